"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([("c1", "look"), ("c1", "look")])
Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
print([(message.role, message.content) for message in SENT[-1]])
ids = [message.tool_call_id for message in SENT[-1] if message.role == "tool"]
assert len(set(ids)) == len(ids), ids
