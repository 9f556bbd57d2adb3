"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted

CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted()).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert len(SENT) == 2, "the model was not asked again"
