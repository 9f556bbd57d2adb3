"""The model fails after a round. The memory has nothing of the round, although its tool did run. Exit code 1 if so."""

import asyncio

from llama_index.core.memory import ChatMemoryBuffer
from scripted import ChatMessage, ChatResponse, FunctionAgent, FunctionCallingLLM, LLMMetadata, MockLLM, ToolSelection

RAN, MEMORY = [], ChatMemoryBuffer(token_limit=1000, tokenizer_fn=list)


class Scripted(MockLLM, FunctionCallingLLM):
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    _prepare_chat_with_tools = None

    async def achat_with_tools(self, tools, chat_history=None, **options):
        return 1 / 0 if RAN else ChatResponse(message=ChatMessage(role="assistant", content="I look."))

    def get_tool_calls_from_response(self, response, **options):
        return [ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={})]


async def main():
    def look():
        RAN.append("look")
    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go", memory=MEMORY)


try:
    asyncio.run(main())
finally:
    assert len(MEMORY.get_all()) > 1, MEMORY.get_all()
