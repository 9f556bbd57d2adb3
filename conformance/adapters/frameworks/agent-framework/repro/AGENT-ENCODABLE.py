"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio

from scripted import Agent, CALLS, SENT, Scripted


def look():
    """Looks."""
    return "\ud83d"


CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
assert "\ud83d" not in SENT[-1][-1].contents[0].result, ascii(SENT[-1][-1].contents[0].result)
