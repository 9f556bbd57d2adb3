"""A call has an empty id. It is missing from the next request, and a message without content stands there. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([{"toolUseId": "", "name": "look"}])
Agent(model=Scripted(), tools=[look], messages=[{"role": "user", "content": [{"text": "Go"}]}], callback_handler=None)()
assert SENT[1][-1]["content"], SENT[1]
