"""Agno's `Agent.arun` behind op `tools`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.run.base import RunStatus
from agno.tools.function import Function

from testee import from_json, serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


def not_asked(self, *others, **options):
    raise NotImplementedError


class ScriptedModel(Model):
    invoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = not_asked

    async def ainvoke(self, messages, assistant_message, **options):
        turn = self.run.ask(messages)
        calls = [function_call(call.id, call.name, call.arguments) for call in turn.calls]
        return ModelResponse(role="assistant", content=turn.content if turn.content or not calls else None, tool_calls=calls)


def function_call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(run, name):
    def call(**args):
        return run.result(name, args)

    return Function(name=name, description="A scripted tool.", parameters=ANY_ARGUMENTS, entrypoint=call, skip_entrypoint_processing=True)


async def run(run, model=None, start=Agent.arun):
    if run.limit is not None:
        run.cannot_tell("Agno limits the number of calls, not of rounds")
    if not model:
        model = ScriptedModel(id="scripted")
        model.run = run
    agent = Agent(model=model, tools=[tool(run, name) for name in run.tools], telemetry=False)
    run.given = [to_agno(message) for message in run.messages]
    output = await start(agent, run.given)
    run.final = output.messages
    if output.status == RunStatus.error:
        run.failure = str(output.content)


def to_agno(message):
    kind, content = message["type"], message["content"]
    if kind == "ai":
        calls = [function_call(call["id"], call["name"], to_json(call.get("args") or {})) for call in message.get("tool_calls") or []]
        return Message(role="assistant", content=content, tool_calls=calls or None)
    if kind == "tool":
        return Message(role="tool", content=content, tool_call_id=message["tool_call_id"])
    return Message(role="user" if kind == "human" else kind, content=content)


def describe(messages):
    return [describe_one(message) for message in messages or []]


def describe_one(message):
    kind = {"user": "human", "assistant": "ai"}.get(message.role, message.role)
    content = message.content
    described = {"type": kind, "content": content if content is None or isinstance(content, str) else to_json(content)}
    if message.tool_calls:
        described["tool_calls"] = [
            {"id": call["id"], "name": call["function"]["name"], "args": from_json(call["function"]["arguments"])}
            for call in message.tool_calls
        ]
    if kind == "tool":
        described["tool_call_id"] = message.tool_call_id
    return described


if __name__ == "__main__":
    serve(run, describe, package="agno", name="Agno", url="https://github.com/agno-agi/agno")
