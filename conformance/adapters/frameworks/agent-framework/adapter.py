"""Microsoft Agent Framework's `Agent.run` behind op `tools`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, FunctionTool, Message

from testee import UNLIMITED, from_json, serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}
ROLES = {"human": "user", "ai": "assistant"}


def limits(run):
    """The limit counts requests with tools; one more request, without tools, ends the run. So would three failures in a row."""
    return {"max_iterations": max(1, run.rounds), "max_consecutive_errors_per_request": UNLIMITED}


class ScriptedClient(FunctionInvocationLayer, BaseChatClient):
    def __init__(self, run):
        super().__init__(function_invocation_configuration=limits(run))
        self.ask = run.ask

    async def _inner_get_response(self, *, messages, stream, options, **others):
        turn = self.ask(messages)
        return ChatResponse(messages=[assistant(turn.content, [vars(call) for call in turn.calls])])


def tool(run, name):
    def call(**args):
        return run.result(name, args)

    return FunctionTool(name=name, description="A scripted tool.", func=call, input_model=ANY_ARGUMENTS, approval_mode="never_require")


async def run(run, model=None, start=Agent.run):
    if run.limit == 0:
        run.cannot_tell("the framework's limit is at least one round")
    agent = Agent(client=model or ScriptedClient(run), tools=[tool(run, name) for name in run.tools])
    run.given = [to_framework(message) for message in run.messages]
    response = await start(agent, run.given)
    run.final = [*run.given, *response.messages]


def assistant(text, calls):
    contents = [Content.from_function_call(call["id"], call["name"], arguments=to_json(call.get("args") or {})) for call in calls]
    return Message("assistant", [*([Content.from_text(text)] if text or not calls else []), *contents])


def to_framework(message):
    kind, content = message["type"], message["content"]
    if kind == "ai":
        return assistant(content, message.get("tool_calls") or [])
    if kind == "tool":
        return Message("tool", [Content.from_function_result(message["tool_call_id"], result=content)])
    return Message(ROLES.get(kind, kind), [Content.from_text(content)])


def describe(messages):
    """The results of one round are contents of one message there, and a message each here."""
    described = []
    for message in messages:
        results = [content for content in message.contents if content.type == "function_result"]
        described += [{"type": "tool", "content": text(result), "tool_call_id": result.call_id} for result in results]
        if len(results) < len(message.contents) or not message.contents:
            described.append(describe_one(message))
    return described


def describe_one(message):
    kind = {"user": "human", "assistant": "ai"}.get(message.role, message.role)
    calls = [content for content in message.contents if content.type == "function_call"]
    made = [{"id": call.call_id, "name": call.name, "args": arguments(call.arguments)} for call in calls]
    return {"type": kind, "content": message.text, **({"tool_calls": made} if made else {})}


def arguments(value):
    return from_json(value) if isinstance(value, str) else dict(value or {})


def text(result):
    return result.result if isinstance(result.result, str) else to_json(result.result)


if __name__ == "__main__":
    serve(run, describe, package="agent-framework-core", name="Microsoft Agent Framework", url="https://github.com/microsoft/agent-framework")
