"""AutoGen's `AssistantAgent.run` behind op `tools`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, ChatCompletionClient, CreateResult, RequestUsage, SystemMessage, UserMessage
from autogen_core.models import FunctionExecutionResult, FunctionExecutionResultMessage
from autogen_core.tools import BaseTool
from pydantic import BaseModel

from testee import from_json, serve, to_json

ABILITIES = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}


class Arguments(BaseModel, extra="allow"):
    pass


class ScriptedTool(BaseTool):
    def __init__(self, run, name):
        super().__init__(Arguments, BaseModel, name, "A scripted tool.")
        self.result = run.result

    async def run(self, args, cancellation_token):
        raise NotImplementedError("`run_json` has the arguments as they came, and the call id")

    async def run_json(self, args, cancellation_token, call_id=None):
        return self.result(self.name, args, call_id)


class ScriptedClient(ChatCompletionClient):
    def __init__(self, run):
        self.run = run

    async def create(self, messages, **options):
        turn = self.run.ask(messages)
        calls = [FunctionCall(id=call.id, name=call.name, arguments=call.arguments) for call in turn.calls]
        content = {"content": calls, "thought": turn.content or None} if calls else {"content": turn.content}
        return CreateResult(finish_reason="function_calls" if calls else "stop", usage=RequestUsage(0, 0), cached=False, **content)

    model_info = capabilities = property(lambda self: ABILITIES)
    actual_usage = total_usage = lambda self: RequestUsage(0, 0)
    count_tokens = remaining_tokens = lambda self, messages, **options: 0
    create_stream = close = None


async def run(run, model=None, **more):
    run.given = to_autogen(run.messages)
    context = UnboundedChatCompletionContext(initial_messages=run.given)
    tools = [ScriptedTool(run, name) for name in run.tools]
    options = {"model_context": context, "system_message": None, "max_tool_iterations": run.rounds + 1, **more}
    agent = AssistantAgent("agent", model or ScriptedClient(run), tools=tools, **options)
    run.final = await context.get_messages()
    await agent.run()


def to_autogen(messages):
    """The results of one round are one message; text beside calls is a thought."""
    names = {call["id"]: call["name"] for message in messages for call in message.get("tool_calls") or []}
    converted = []
    for message in messages:
        kind, content, calls = message["type"], message["content"], message.get("tool_calls") or []
        if kind == "tool":
            call_id = message["tool_call_id"]
            if not converted or not isinstance(converted[-1], FunctionExecutionResultMessage):
                converted.append(FunctionExecutionResultMessage(content=[]))
            converted[-1].content.append(FunctionExecutionResult(content=content, name=names.get(call_id, "unknown"), call_id=call_id))
        elif calls:
            made = [FunctionCall(id=call["id"], name=call["name"], arguments=to_json(call.get("args") or {})) for call in calls]
            converted.append(AssistantMessage(content=made, thought=content or None, source="agent"))
        elif kind == "system":
            converted.append(SystemMessage(content=content))
        else:
            converted.append(UserMessage(content=content, source="user") if kind == "human" else AssistantMessage(content=content, source="agent"))
    return converted


def describe(messages):
    return [described for message in messages for described in describe_one(message)]


def describe_one(message):
    if isinstance(message, FunctionExecutionResultMessage):
        return [{"type": "tool", "content": result.content, "tool_call_id": result.call_id} for result in message.content]
    kind = {"SystemMessage": "system", "UserMessage": "human"}.get(message.type, "ai")
    if isinstance(message.content, str):
        return [{"type": kind, "content": message.content}]
    calls = [{"id": call.id, "name": call.name, "args": from_json(call.arguments)} for call in message.content]
    return [{"type": kind, "content": message.thought or "", "tool_calls": calls}]


if __name__ == "__main__":
    serve(run, describe, package="autogen-agentchat", name="AutoGen", url="https://github.com/microsoft/autogen")
