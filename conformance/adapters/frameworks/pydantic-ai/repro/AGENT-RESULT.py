"""A tool returns an empty list. The model is shown an empty text. Exit code 1 if so."""

from scripted import Agent, CALLS, FunctionModel, SENT, ToolCallPart, model

CALLS.extend([ToolCallPart("look", "{}", "c1")])
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
