"""LangChain's `create_agent` behind op `tools`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool

from testee import UNLIMITED, serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


class ScriptedModel(BaseChatModel):
    run: object

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        turn = self.run.ask(messages)
        message = AIMessage(content=turn.content, tool_calls=[vars(call) for call in turn.calls])
        return ChatResult(generations=[ChatGeneration(message=message)])


def tool(run, name):
    async def call(runtime: ToolRuntime, **args):
        return run.result(name, args, runtime.tool_call_id)

    return StructuredTool(name=name, description="A scripted tool.", args_schema=ANY_ARGUMENTS, coroutine=call)


async def run(run, model=None):
    # A limit is this middleware's; the graph's own counts steps, of which a run without a limit has many.
    limit = [] if run.limit is None else [ModelCallLimitMiddleware(run_limit=run.rounds + 1)]
    agent = create_agent(model or ScriptedModel(run=run), [tool(run, name) for name in run.tools], middleware=limit)
    run.given = [to_langchain(message) for message in run.messages]
    # The state after each step, kept in case the run ends with an exception.
    async for state in agent.astream({"messages": run.given}, {"recursion_limit": 5 * UNLIMITED}, stream_mode="values"):
        run.final = state["messages"]


def to_langchain(message):
    kind, content = message["type"], message["content"]
    if kind == "ai":
        return AIMessage(content=content, tool_calls=message.get("tool_calls") or [])
    if kind == "tool":
        return ToolMessage(content=content, tool_call_id=message["tool_call_id"])
    return (SystemMessage if kind == "system" else HumanMessage)(content=content)


def describe(messages):
    return [describe_one(message) for message in messages]


def describe_one(message):
    content = message.content if isinstance(message.content, str) else blocks(message.content)
    described = {"type": message.type, "content": content}
    if message.type == "ai" and message.tool_calls:
        described["tool_calls"] = [{"id": call["id"], "name": call["name"], "args": call["args"]} for call in message.tool_calls]
    if message.type == "tool":
        described["tool_call_id"] = message.tool_call_id
    return described


def blocks(content):
    """The texts of a list of content blocks; any other block as JSON."""
    return "".join(block if isinstance(block, str) else block.get("text", to_json(block)) for block in content)


if __name__ == "__main__":
    serve(run, describe, package="langchain", name="LangChain create_agent (Python)", url="https://github.com/langchain-ai/langchain")
