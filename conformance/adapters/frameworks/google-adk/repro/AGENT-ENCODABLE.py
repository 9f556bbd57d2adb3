"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio

from scripted import CALLS, InMemoryRunner, LlmAgent, SENT, Scripted


def look():
    """Looks."""
    return "\ud83d"


CALLS.extend(["c1"])
runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
asyncio.run(runner.run_debug("Go", quiet=True))
assert "\ud83d" not in SENT[-1].contents[-1].parts[0].function_response.response["result"], ascii(SENT[-1].contents[-1].parts[0].function_response.response["result"])
