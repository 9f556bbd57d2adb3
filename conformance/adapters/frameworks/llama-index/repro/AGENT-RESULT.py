"""A tool returns True and None. The model is shown Python, not JSON. Exit code 1 if so."""

import asyncio

from scripted import CALLS, FunctionAgent, SENT, Scripted, ToolSelection


async def main():
    def look():
        return [True, None]

    await FunctionAgent(llm=Scripted(), tools=[look], streaming=False).run("Go")


CALLS.extend([ToolSelection(tool_id="c1", tool_name="look", tool_kwargs={})])
asyncio.run(main())
assert SENT[-1][-1].content == "[true, null]", SENT[-1][-1].content
