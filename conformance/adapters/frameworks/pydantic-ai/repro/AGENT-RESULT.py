"""A tool returns an empty list. The model is shown an empty text. Exit code 1 if so."""

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
def look() -> list:
    """Looks."""
    return []


agent.run_sync("Go")
for message in SENT[-1]:
    for part in message.parts:
        print(part)
assert SENT[-1][-1].parts[0].model_response_str() == "[]", "an empty text"
