"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, ToolCallBlock
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM

SENT = []

class Scripted(MockLLM, FunctionCallingLLM):
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    _prepare_chat_with_tools = None

    async def achat_with_tools(self, tools, chat_history=None, **options):
        SENT.append(chat_history)
        return ChatResponse(message=ChatMessage(role="assistant", content="Done"))

    def get_tool_calls_from_response(self, response, **options):
        return []

async def main():
    asked = ToolCallBlock(tool_call_id="h1", tool_name="look", tool_kwargs={})
    history = [ChatMessage(role="assistant", blocks=[asked]), ChatMessage(role="user", content="Well?")]
    await FunctionAgent(llm=Scripted(), tools=[len], streaming=False).run(chat_history=history)

asyncio.run(main())
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
