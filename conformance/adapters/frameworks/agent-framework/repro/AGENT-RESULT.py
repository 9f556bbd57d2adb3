"""A tool returns None. The model is shown an empty text. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return None


CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert SENT[-1][-1].contents[0].result in ("[true, null]", "null"), SENT[-1][-1].contents[0].result
