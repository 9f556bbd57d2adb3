"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio

from scripted import AssistantAgent, CALLS, FunctionCall, SENT, Scripted


def look() -> str:
    """Looks."""
    return "\ud83d"


CALLS.extend([FunctionCall(id="c1", name="look", arguments="{}")])
asyncio.run(AssistantAgent("agent", Scripted(), tools=[look], max_tool_iterations=2).run(task="Go"))
assert "\ud83d" not in SENT[-1][-1].content[0].content, ascii(SENT[-1][-1].content[0].content)
