"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

SENT = []
CALLS = []


def model(messages, info):
    SENT.append(messages)
    turn = ModelResponse(CALLS)
    return turn if len(SENT) == 1 else ModelResponse([TextPart("Done")])
