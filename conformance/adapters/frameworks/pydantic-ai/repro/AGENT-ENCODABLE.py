"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import Agent, CALLS, FunctionModel, SENT, ToolCallPart, model

CALLS.extend([ToolCallPart("look", "{}", "c1")])
agent = Agent(FunctionModel(model))


@agent.tool_plain
def look() -> str:
    """Looks."""
    return "\ud83d"


agent.run_sync("Go")
assert "\ud83d" not in SENT[-1][-1].parts[0].content, ascii(SENT[-1][-1].parts[0].content)
