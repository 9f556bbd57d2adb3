"""A tool returns True and None. The model is shown Python, not JSON. Exit code 1 if so."""

import asyncio

from scripted import AssistantAgent, CALLS, FunctionCall, SENT, Scripted


def look() -> list:
    """Looks."""
    return [True, None]


CALLS.extend([FunctionCall(id="c1", name="look", arguments="{}")])
asyncio.run(AssistantAgent("agent", Scripted(), tools=[look], max_tool_iterations=2).run(task="Go"))
assert SENT[-1][-1].content[0].content == "[true, null]", SENT[-1][-1].content[0].content
