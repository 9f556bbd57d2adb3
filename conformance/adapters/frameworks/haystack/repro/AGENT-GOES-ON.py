"""A tool has a parameter called `self`, as the schema of a remote tool may. Calling it ends the run. Exit code 1 if so."""

from scripted import Agent, CALLS, ChatMessage, Scripted, Tool, ToolCall

CALLS.extend([ToolCall("look", {"self": 1}, "c1")])
schema = {"type": "object", "properties": {"self": {"type": "integer"}}}
look = Tool(name="look", description="Looks.", parameters=schema, function=lambda **args: "r")
try:
    Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
except TypeError as error:
    raise AssertionError("the call has no answer") from error
