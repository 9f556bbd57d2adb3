"""The model calls a tool that does not exist. The answer does not say which. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return [True, None]


CALLS.extend([("c1", "missing")])
Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
print([(message.role, message.content) for message in SENT[-1]])
assert "missing" in SENT[-1][-1].content, SENT[-1][-1].content
