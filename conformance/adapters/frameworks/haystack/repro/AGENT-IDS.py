"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

SENT = []


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        SENT.append(messages)
        calls = [ToolCall("look", {}, "c1")] * 2 if len(SENT) == 1 else []
        return {"replies": [ChatMessage.from_assistant(None if calls else "Done", tool_calls=calls)]}


def look():
    return "r"


look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=look)
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
print(SENT[-1])
ids = [message.tool_call_result.origin.id for message in SENT[-1] if message.role == "tool"]
assert len(set(ids)) == len(ids), ids
