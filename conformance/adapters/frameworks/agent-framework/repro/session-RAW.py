"""The arguments of a call are cut off, and the tool, whose argument has a default, is executed without them. Exit code 1 if so.

The documentation of tools (https://learn.microsoft.com/en-us/agent-framework/agents/tools/function-tools) does not announce it.
"""

import asyncio

from scripted import Agent, RAN, SAID, SENT, Talking, call, text, tool


@tool
def clean(folder: str = "/") -> str:
    """Cleans a folder."""
    RAN.append(folder)
    return f"{folder} is clean"


async def main():
    agent = Agent(client=Talking(), tools=[clean])
    SAID.extend([call("c", "clean", '{"folder": "/tm'), text("Done")])
    await agent.run("Clean /tmp", session=agent.create_session())


asyncio.run(main())
print(*SENT[-1], sep="\n")
print("cleaned:", RAN)
assert not RAN, "a call whose arguments are cut off is executed"
