"""LlamaIndex's `FunctionAgent` behind op `tools`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata, TextBlock, ToolCallBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from pydantic import BaseModel
from workflows.errors import WorkflowRuntimeError

from testee import serve

ROLES = {"human": "user", "ai": "assistant"}


class Arguments(BaseModel, extra="allow"):
    pass


def not_asked(self, *others, **options):
    raise NotImplementedError


class ScriptedLLM(FunctionCallingLLM):
    run: object
    metadata = property(lambda self: LLMMetadata(is_function_calling_model=True))
    chat = complete = stream_chat = stream_complete = not_asked
    acomplete = astream_chat = astream_complete = _prepare_chat_with_tools = not_asked

    async def achat(self, messages, **options):
        return await self.achat_with_tools([], chat_history=messages)

    async def achat_with_tools(self, tools, user_msg=None, chat_history=None, **options):
        turn = self.run.ask(chat_history, {tool.metadata.name for tool in tools})
        return ChatResponse(message=assistant(turn.content, [vars(call) for call in turn.calls]))

    def get_tool_calls_from_response(self, response, error_on_no_tool_call=True, **options):
        calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [ToolSelection(tool_id=call.tool_call_id, tool_name=call.tool_name, tool_kwargs=call.tool_kwargs) for call in calls]


def tool(run, name):
    async def call(**args):
        return run.result(name, args)

    return FunctionTool.from_defaults(async_fn=call, name=name, description="A scripted tool.", fn_schema=Arguments)


async def run(run, model=None, streaming=False):
    agent = FunctionAgent(llm=model or ScriptedLLM(run=run), tools=[tool(run, name) for name in run.tools], streaming=streaming)
    # The default memory forgets what exceeds a number of tokens, and downloads a tokenizer to count them.
    memory = ChatMemoryBuffer(token_limit=10**9, tokenizer_fn=list)
    run.given = [to_llama_index(message) for message in run.messages]
    try:
        await agent.run(chat_history=run.given, memory=memory, max_iterations=run.rounds + 1)
    except WorkflowRuntimeError as error:
        if "Max iterations" not in str(error):
            raise
    finally:
        run.final = memory.get_all()


def assistant(text, calls):
    blocks = [ToolCallBlock(tool_call_id=call["id"], tool_name=call["name"], tool_kwargs=call.get("args") or {}) for call in calls]
    return ChatMessage(role="assistant", blocks=[*([TextBlock(text=text)] if text or not calls else []), *blocks])


def to_llama_index(message):
    kind, content = message["type"], message["content"]
    if kind == "ai":
        return assistant(content, message.get("tool_calls") or [])
    extra = {"tool_call_id": message["tool_call_id"]} if kind == "tool" else {}
    return ChatMessage(role=ROLES.get(kind, kind), content=content, additional_kwargs=extra)


def describe(messages):
    return [describe_one(message) for message in messages]


def describe_one(message):
    kind = {"user": "human", "assistant": "ai"}.get(message.role, message.role.value)
    described = {"type": kind, "content": "".join(block.text for block in message.blocks if isinstance(block, TextBlock))}
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if calls:
        described["tool_calls"] = [{"id": call.tool_call_id, "name": call.tool_name, "args": call.tool_kwargs} for call in calls]
    if kind == "tool":
        described["tool_call_id"] = message.additional_kwargs.get("tool_call_id")
    return described


if __name__ == "__main__":
    serve(run, describe, package="llama-index-core", name="LlamaIndex FunctionAgent", url="https://github.com/run-llama/llama_index")
