"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.tools import Tool

SENT = []
CALLS = []


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        SENT.append(messages)
        calls = CALLS if len(SENT) == 1 else []
        return {"replies": [ChatMessage.from_assistant(None if calls else "Done", tool_calls=calls)]}


def look():
    return "r"
