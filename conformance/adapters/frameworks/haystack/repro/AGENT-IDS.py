"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from scripted import Agent, CALLS, ChatMessage, SENT, Scripted, Tool, ToolCall


def look():
    return "r"


CALLS.extend([ToolCall("look", {}, "c1")] * 2)
look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=look)
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
print(SENT[-1])
ids = [message.tool_call_result.origin.id for message in SENT[-1] if message.role == "tool"]
assert len(set(ids)) == len(ids), ids
