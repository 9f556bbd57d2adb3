"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio

from scripted import CALLS, FunctionAgent, SENT, Scripted, ToolSelection


async def main():
    def look():
        return "\ud83d"

    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go")


CALLS.extend([ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={})])
asyncio.run(main())
assert "\ud83d" not in SENT[-1][-1].content, ascii(SENT[-1][-1].content)
