"""A tool has an empty name. It is called, and is unknown. Exit code 1 if so."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

SENT = []


def model(messages, info):
    SENT.append(messages)
    turn = ModelResponse([ToolCallPart("", "{}", "c1")])
    return turn if len(SENT) == 1 else ModelResponse([TextPart("Done")])


agent = Agent(FunctionModel(model))


@agent.tool_plain(name="")
def look():
    """Looks."""
    return "r"


agent.run_sync("Go")
for message in SENT[-1]:
    for part in message.parts:
        print(part)
assert SENT[1][-1].parts[0].content == "r", SENT[1][-1].parts[0]
