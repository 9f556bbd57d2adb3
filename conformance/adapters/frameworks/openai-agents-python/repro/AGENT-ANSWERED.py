"""The model uses an id of the history again. The old call and its answer are gone, and the new answer stands elsewhere. Exit code 1 if so."""

from scripted import Agent, CALLS, Runner, SENT, Scripted, look, set_tracing_disabled

CALLS.extend([{"call_id": "c1", "name": "look", "arguments": "{}"}])
set_tracing_disabled(True)
old = [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "old"}]
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), [*old, {"role": "user", "content": "Again"}])
print(SENT[-1])
assert SENT[1][:2] == old, SENT[1]
