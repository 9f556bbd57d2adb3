"""The history has two answers to one call. Both are sent, and no provider takes them. Exit code 1 if so."""

from pydantic_ai.messages import ModelRequest, ToolReturnPart, UserPromptPart
from scripted import Agent, FunctionModel, ModelResponse, SENT, TextPart, ToolCallPart


def model(messages, info):
    SENT.append(messages)
    return ModelResponse([TextPart("Done")])


agent = Agent(FunctionModel(model))
ANSWERS = [ToolReturnPart("look", text, "h1") for text in ("seen", "seen again")]
HISTORY = [ModelResponse([ToolCallPart("look", "{}", "h1")]), ModelRequest([*ANSWERS, UserPromptPart("Well?")])]
agent.run_sync(message_history=HISTORY)
for message in SENT[-1]:
    for part in message.parts:
        print(part)
assert sum(isinstance(part, ToolReturnPart) for message in SENT[0] for part in message.parts) < 2, "two answers"
