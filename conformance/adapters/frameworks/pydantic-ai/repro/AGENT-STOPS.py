"""The model answers with nothing. It is asked again. Exit code 1 if so."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

SENT = []


def model(messages, info):
    SENT.append(messages)
    turn = ModelResponse([])
    return turn if len(SENT) == 1 else ModelResponse([TextPart("Done")])


agent = Agent(FunctionModel(model))


@agent.tool_plain
def look():
    """Looks."""
    return "r"


agent.run_sync("Go")
for message in SENT[-1]:
    for part in message.parts:
        print(part)
assert len(SENT) == 1, f"{len(SENT)} requests"
