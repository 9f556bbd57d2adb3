"""A tool returns a dict with a letter beyond ASCII. The model is shown its escape, six tokens for one. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return {"city": "Zürich"}


CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert "Zürich" in SENT[-1][-1].contents[0].result, SENT[-1][-1].contents[0].result
