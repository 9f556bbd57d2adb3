"""The model uses one id twice. Both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import asyncio
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

SENT = []

class Scripted(MockLLM, FunctionCallingLLM):
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    _prepare_chat_with_tools = None

    async def achat_with_tools(self, tools, chat_history=None, **options):
        SENT.append(chat_history)
        return ChatResponse(message=ChatMessage(role="assistant", content="Done"))

    def get_tool_calls_from_response(self, response, **options):
        return [ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={}) for _ in range(2)] if len(SENT) == 1 else []

async def main():
    look = FunctionTool.from_defaults(fn=lambda: "r", name="look", description="Looks.")
    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go")

asyncio.run(main())
ids = [message.additional_kwargs["tool_call_id"] for message in SENT[-1] if message.role == "tool"]
assert len(set(ids)) == len(ids), ids
