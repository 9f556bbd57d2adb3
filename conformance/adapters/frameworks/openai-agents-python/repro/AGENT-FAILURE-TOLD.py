"""A tool raises. The model is told that there was an error, not which. Exit code 1 if so."""

from scripted import Agent, CALLS, Runner, SENT, Scripted, function_tool, set_tracing_disabled


@function_tool
def look():
    """Looks."""
    raise ValueError("no disk")


CALLS.extend([{"id": "f", "call_id": "c1", "name": "look", "arguments": "{}"}])
set_tracing_disabled(True)
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
print(SENT[-1])
assert "no disk" in SENT[-1][-1]["output"], SENT[-1][-1]["output"]
