"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([{"toolUseId": "c1", "name": "look"}, {"toolUseId": "c1", "name": "look"}])
Agent(model=Scripted(), tools=[look], messages=[{"role": "user", "content": [{"text": "Go"}]}], callback_handler=None)()
ids = [block["toolResult"]["toolUseId"] for block in SENT[-1][-1]["content"]]
assert len(set(ids)) == len(ids), ids
