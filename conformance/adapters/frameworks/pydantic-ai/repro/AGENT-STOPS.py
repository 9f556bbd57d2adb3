"""The model answers with nothing. It is asked again. Exit code 1 if so."""

from scripted import Agent, FunctionModel, SENT, model

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
