"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return "\ud83d"


CALLS.extend([("c1", "look")])
Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
assert "\ud83d" not in SENT[-1][-1].content, ascii(SENT[-1][-1].content)
