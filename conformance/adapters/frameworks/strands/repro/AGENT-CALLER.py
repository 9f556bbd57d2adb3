"""The run adds its messages to the caller's own list. Exit code 1 if so."""

from scripted import Agent, CALLS, Scripted, look

CALLS.extend([{"toolUseId": "c1", "name": "look"}])
given = [{"role": "user", "content": [{"text": "Go"}]}]
Agent(model=Scripted(), tools=[look], messages=given, callback_handler=None)()
assert len(given) == 1, given
