"""The model calls a tool without a name. The next request says `[blank text]` in its place. Exit code 1 if so."""

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([{"toolUseId": "c1", "name": ""}])
Agent(model=Scripted(), tools=[look], messages=[{"role": "user", "content": [{"text": "Go"}]}], callback_handler=None)()
assert "blank text" not in str(SENT[1]), SENT[1]
