"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

from scripted import Agent, CALLS, ChatMessage, SENT, Scripted, ToolCall

CALLS.extend([ToolCall("missing", {}, "c1")])
Agent(chat_generator=Scripted()).run(messages=[ChatMessage.from_user("Go")])
assert len(SENT) == 2, "the model was not asked again"
