"""A tool raises. The run ends with its exception. Exit code 1 if so."""

import asyncio

from scripted import CALLS, InMemoryRunner, LlmAgent, SENT, Scripted


def look():
    """Looks."""
    raise ValueError("no disk")


CALLS.extend(["c1"])
runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
try:
    asyncio.run(runner.run_debug("Go", quiet=True))
finally:
    assert len(SENT) == 2, "the model was not asked again"
