"""A tool raises. The model is told that there was an error, not which. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    raise ValueError("no disk")


CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert "no disk" in SENT[-1][-1].contents[0].result, SENT[-1][-1].contents[0].result
