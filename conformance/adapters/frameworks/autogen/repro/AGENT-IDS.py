"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import asyncio

from scripted import AssistantAgent, CALLS, FunctionCall, SENT, Scripted


def look() -> str:
    """Looks."""
    return "r"


CALLS.extend([FunctionCall(id="c1", name="look", arguments="{}") for _ in range(2)])
asyncio.run(AssistantAgent("agent", Scripted(), tools=[look], max_tool_iterations=2).run(task="Go"))
ids = [result.call_id for result in SENT[-1][-1].content]
assert len(set(ids)) == len(ids), ids
