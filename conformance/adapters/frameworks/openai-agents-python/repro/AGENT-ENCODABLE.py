"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import Agent, CALLS, Runner, SENT, Scripted, function_tool, set_tracing_disabled


@function_tool
def look():
    """Looks."""
    return "\ud83d"


CALLS.extend([{"id": "f", "call_id": "c1", "name": "look", "arguments": "{}"}])
set_tracing_disabled(True)
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
assert "\ud83d" not in SENT[-1][-1]["output"], ascii(SENT[-1][-1]["output"])
