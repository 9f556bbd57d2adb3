"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend(["c1", "c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
ids = [content.call_id for content in SENT[-1][-1].contents]
assert len(set(ids)) == len(ids), ids
