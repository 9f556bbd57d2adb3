"""A tool returns True and None. The model is shown Python, not JSON. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return [True, None]


CALLS.extend([("c1", "look")])
Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
print([(message.role, message.content) for message in SENT[-1]])
assert SENT[-1][-1].content in ("[true, null]", "null"), SENT[-1][-1].content
