"""A tool has a parameter called `self`, as the schema of a remote tool may. Calling it ends the run. Exit code 1 if so."""

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
        calls = [ToolCall("look", {"self": 1}, "c1")] if len(SENT) == 1 else []
        return {"replies": [ChatMessage.from_assistant(None if calls else "Done", tool_calls=calls)]}


schema = {"type": "object", "properties": {"self": {"type": "integer"}}}
look = Tool(name="look", description="Looks.", parameters=schema, function=lambda **args: "r")
try:
    Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
except TypeError as error:
    raise AssertionError("the call has no answer") from error
