"""A tool returns True, None and a dict. The model is shown Python, not JSON. Exit code 1 if so."""

from scripted import Agent, CALLS, Runner, SENT, Scripted, function_tool, set_tracing_disabled


@function_tool
def look():
    """Looks."""
    return [True, None]


CALLS.extend([{"id": "f", "call_id": "c1", "name": "look", "arguments": "{}"}])
set_tracing_disabled(True)
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
print(SENT[-1])
assert SENT[-1][-1]["output"] == "[true, null]", SENT[-1][-1]["output"]
