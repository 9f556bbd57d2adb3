"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

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
        calls = [] if len(SENT) == 1 else []
        return {"replies": [ChatMessage.from_assistant(None if calls else "Done", tool_calls=calls)]}


def look():
    return "r"


look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=look)
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[
    ChatMessage.from_assistant(tool_calls=[ToolCall("look", {}, "h1")]),
    ChatMessage.from_user("Well?"),
])
print(SENT[-1])
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
