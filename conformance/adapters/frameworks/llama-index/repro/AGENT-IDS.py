"""The model uses one id twice. Both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import asyncio

from llama_index.core.tools import FunctionTool
from scripted import CALLS, FunctionAgent, SENT, Scripted, ToolSelection


async def main():
    look = FunctionTool.from_defaults(fn=lambda: "r", name="look", description="Looks.")
    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go")


CALLS.extend([ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={}) for _ in range(2)])
asyncio.run(main())
ids = [message.additional_kwargs["tool_call_id"] for message in SENT[-1] if message.role == "tool"]
assert len(set(ids)) == len(ids), ids
