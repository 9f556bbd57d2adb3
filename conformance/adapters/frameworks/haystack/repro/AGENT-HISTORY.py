"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

from scripted import Agent, ChatMessage, SENT, Scripted, Tool, ToolCall


def look():
    return "r"


look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=look)
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[
    ChatMessage.from_assistant(tool_calls=[ToolCall("look", {}, "h1")]),
    ChatMessage.from_user("Well?"),
])
print(SENT[-1])
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
