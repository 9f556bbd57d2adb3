"""An agent without tools gets a call from its model. The call stays without an answer in every later request, which a provider refuses. Exit code 1 if so.

The documentation does not say what an agent without tools does with a call.
"""

import asyncio

from scripted import Agent, SAID, SENT, Talking, call, text


async def main():
    agent = Agent(client=Talking())
    session = agent.create_session()
    SAID.extend([call("c", "look"), text("Done")])
    await agent.run("Look", session=session)
    await agent.run("And now?", session=session)


asyncio.run(main())
print(*SENT[-1], sep="\n")
assert SENT[-1][-2][0] != "assistant", "the call is not answered before the next message"
