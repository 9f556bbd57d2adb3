"""A call was never answered, and the conversation went on. The history is sent as it is, and no provider takes it. Exit code 1 if so."""

from scripted import Agent, SENT, Scripted

asked, sorry = {"toolUse": {"toolUseId": "h1", "name": "look", "input": {}}}, {"role": "assistant", "content": [{"text": "Sorry."}]}
HISTORY = [{"role": "assistant", "content": [asked]}, {"role": "user", "content": [{"text": "Well?"}]}, sorry]
Agent(model=Scripted(), tools=[], messages=HISTORY, callback_handler=None)("Again")
assert "toolResult" in str(SENT[0]), "h1 has no answer"
