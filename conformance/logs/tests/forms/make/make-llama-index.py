# /// script
# requires-python = ">=3.11"
# dependencies = ["llama-index-core==0.14.25", "llama-index-llms-openai==0.8.3", "openai", "pydantic==2.11.7"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A `SimpleChatStore` of LlamaIndex: what `FunctionAgent` keeps in its memory, each conversation under its own key. The picture is left out: the
store cannot write its address."""

import asyncio
import json

import story
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.storage.chat_store import SimpleChatStore
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI
from out import source, write


def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    return story.get_weather(city, station)


async def main():
    store = SimpleChatStore()
    for number, (texts, _) in enumerate(story.openings(), 1):
        agent = FunctionAgent(tools=[FunctionTool.from_defaults(get_weather)], llm=OpenAI(model=story.CHAT_MODEL), system_prompt=story.SYSTEM, streaming=False)
        memory = ChatMemoryBuffer.from_defaults(token_limit=10_000, chat_store=store, chat_store_key=f"session-{number}")
        for text in texts:
            await agent.run(text, memory=memory)
    return store


write("llama-index", "clean.json", json.loads(asyncio.run(main()).json()))
source("llama-index", __doc__, "llama-index-core", "llama-index-llms-openai", "openai")
