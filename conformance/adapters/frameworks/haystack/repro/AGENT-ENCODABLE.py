"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import Agent, CALLS, ChatMessage, SENT, Scripted, Tool, ToolCall


def look():
    return "\ud83d"


CALLS.extend([ToolCall("look", {}, "c1")])
look = Tool(name="look", description="Looks.", parameters={"type": "object", "properties": {}}, function=look)
Agent(chat_generator=Scripted(), tools=[look]).run(messages=[ChatMessage.from_user("Go")])
assert "\ud83d" not in SENT[-1][-1].tool_call_result.result, ascii(SENT[-1][-1].tool_call_result.result)
