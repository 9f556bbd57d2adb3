"""The model calls a tool that does not exist. The run ends with an exception. Exit code 1 if so."""

from scripted import Agent, CALLS, Runner, SENT, Scripted, look, set_tracing_disabled

CALLS.extend([{"id": "f", "call_id": "c1", "name": "missing", "arguments": "{}"}])
set_tracing_disabled(True)
try:
    Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
finally:
    assert len(SENT) == 2, "the model was not asked again"
