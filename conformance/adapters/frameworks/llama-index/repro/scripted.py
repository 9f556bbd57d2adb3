"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, ToolCallBlock
from llama_index.core.llms import MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

SENT = []
CALLS = []


class Scripted(MockLLM, FunctionCallingLLM):
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    _prepare_chat_with_tools = None

    async def achat_with_tools(self, tools, chat_history=None, **options):
        SENT.append(chat_history)
        return ChatResponse(message=ChatMessage(role="assistant", content="Done"))

    def get_tool_calls_from_response(self, response, **options):
        return CALLS if len(SENT) == 1 else []
