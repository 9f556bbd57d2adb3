"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio

from scripted import Agent, Content, Message, SENT, Scripted

HISTORY = [Message("assistant", [Content.from_function_call("h1", "look", arguments="{}")]), Message("user", ["Well?"])]
asyncio.run(Agent(client=Scripted()).run(HISTORY))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
