"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

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
        turn = {"tool_calls": [ToolCall("missing", {}, "c1")]} if len(SENT) == 1 else {"text": "Done"}
        return {"replies": [ChatMessage.from_assistant(**turn)]}


Agent(chat_generator=Scripted()).run(messages=[ChatMessage.from_user("Go")])
assert len(SENT) == 2, "the model was not asked again"
