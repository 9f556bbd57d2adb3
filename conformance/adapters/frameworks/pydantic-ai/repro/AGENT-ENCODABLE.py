"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

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
def look() -> str:
    """Looks."""
    return "\ud83d"


agent.run_sync("Go")
assert "\ud83d" not in SENT[-1][-1].parts[0].content, ascii(SENT[-1][-1].parts[0].content)
