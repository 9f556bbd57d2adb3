"""Haystack's `Agent.run` behind op `tools`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

from testee import serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


@component
class ScriptedGenerator:
    def __init__(self, run):
        self.asked = run.ask

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        turn = self.asked(messages)
        calls = [ToolCall(call.name, call.args, call.id) for call in turn.calls]
        return {"replies": [assistant(turn.content, calls)]}


def tool(run, name):
    def call(**args):
        return run.result(name, args)

    return Tool(name=name, description="A scripted tool.", parameters=ANY_ARGUMENTS, function=call)


def run(run, model=None):
    tools = [tool(run, name) for name in run.tools]
    agent = Agent(chat_generator=model or ScriptedGenerator(run), tools=tools, max_agent_steps=run.rounds + 1)
    run.given = to_haystack(run.messages)
    run.final = agent.run(messages=run.given)["messages"]


def assistant(text, calls):
    return ChatMessage.from_assistant(text if text or not calls else None, tool_calls=calls)


def to_haystack(messages):
    calls, converted = {}, []
    for message in messages:
        kind, content = message["type"], message["content"]
        if kind == "ai":
            made = [ToolCall(call["name"], call.get("args") or {}, call["id"]) for call in message.get("tool_calls") or []]
            calls |= {call.id: call for call in made}
            converted.append(assistant(content, made))
        elif kind == "tool":
            origin = calls.get(message["tool_call_id"]) or ToolCall("unknown", {}, message["tool_call_id"])
            converted.append(ChatMessage.from_tool(content, origin))
        else:
            converted.append(ChatMessage.from_system(content) if kind == "system" else ChatMessage.from_user(content))
    return converted


def describe(messages):
    return [described for message in messages for described in describe_one(message)]


def describe_one(message):
    if message.role == "tool":
        return [{"type": "tool", "content": text(one.result), "tool_call_id": one.origin.id} for one in message.tool_call_results]
    kind = {"user": "human", "assistant": "ai"}.get(message.role, message.role.value)
    calls = [{"id": call.id, "name": call.tool_name, "args": call.arguments} for call in message.tool_calls]
    return [{"type": kind, "content": "".join(message.texts), **({"tool_calls": calls} if calls else {})}]


def text(result):
    return result if isinstance(result, str) else "".join(getattr(part, "text", None) or to_json(part.to_dict()) for part in result)


if __name__ == "__main__":
    serve(run, describe, package="haystack-ai", name="Haystack", url="https://github.com/deepset-ai/haystack")
