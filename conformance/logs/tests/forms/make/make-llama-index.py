# /// script
# requires-python = ">=3.11"
# dependencies = ["llama-index-core==0.14.25", "llama-index-llms-openai-like==0.8.1", "pydantic==2.11.10"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""LlamaIndex: an agent's chat memory as the JSON of a `SimpleChatStore`, with both conversations under keys of their own."""

import asyncio
import os

import story
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.llms.openai_like import OpenAILike
from out import source, write


async def main():
    store = SimpleChatStore()
    llm = OpenAILike(model=story.CHAT_MODEL, api_base=os.environ["OPENAI_BASE_URL"], api_key="key", is_chat_model=True, is_function_calling_model=True)
    agent = FunctionAgent(tools=[story.get_weather], llm=llm, system_prompt=story.SYSTEM, streaming=False)
    for number, (texts, image) in enumerate(story.openings(), 1):
        memory = ChatMemoryBuffer.from_defaults(chat_store=store, chat_store_key=f"conversation-{number}", token_limit=100_000)
        for index, text in enumerate(texts):
            blocks = [TextBlock(text=text), ImageBlock(url=image)] if image and not index else [TextBlock(text=text)]
            await agent.run(user_msg=ChatMessage(role="user", blocks=blocks), memory=memory)
    write("llama-index", "clean.json", store.json())


asyncio.run(main())
source("llama-index", __doc__, "llama-index-core", "llama-index-llms-openai-like", "openai")
