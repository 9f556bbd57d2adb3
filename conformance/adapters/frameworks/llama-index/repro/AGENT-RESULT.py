"""A tool returns True and None. The model is shown Python, not JSON. Exit code 1 if so."""

import asyncio
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, ToolCallBlock
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

SENT = []

class Scripted(MockLLM, FunctionCallingLLM):
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    _prepare_chat_with_tools = None

    async def achat_with_tools(self, tools, chat_history=None, **options):
        SENT.append(chat_history)
        return ChatResponse(message=ChatMessage(role="assistant", content="Done"))

    def get_tool_calls_from_response(self, response, **options):
        return [ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={})] if len(SENT) == 1 else []

async def main():
    def look():
        return [True, None]

    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go")

asyncio.run(main())
assert SENT[-1][-1].content == "[true, null]", SENT[-1][-1].content
