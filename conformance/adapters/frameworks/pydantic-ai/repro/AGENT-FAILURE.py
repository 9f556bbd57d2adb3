"""A tool raises. The run ends with its exception. Exit code 1 if so."""

from scripted import Agent, CALLS, FunctionModel, SENT, ToolCallPart, model

CALLS.extend([ToolCallPart("look", "{}", "c1")])
agent = Agent(FunctionModel(model))


@agent.tool_plain
def look():
    """Looks."""
    raise ValueError("no disk")


try:
    agent.run_sync("Go")
finally:
    assert len(SENT) == 2, "the model was not asked again"
