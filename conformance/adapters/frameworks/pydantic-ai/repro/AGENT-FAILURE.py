"""A tool raises. The run ends with its exception. Exit code 1 if so."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

SENT = []


def model(messages, info):
    SENT.append(messages)
    turn = ModelResponse([ToolCallPart("look", "{}", "c1")])
    return turn if len(SENT) == 1 else ModelResponse([TextPart("Done")])


agent = Agent(FunctionModel(model))


@agent.tool_plain
def look():
    """Looks."""
    raise ValueError("no disk")


try:
    agent.run_sync("Go")
finally:
    assert len(SENT) == 2, "the model was not asked again"
