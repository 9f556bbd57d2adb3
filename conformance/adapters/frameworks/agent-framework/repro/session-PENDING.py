"""A call waits for approval, the user writes something else, and the model answers. Then the old question is approved after all: the call runs, though
the conversation has gone on, and its result stands behind all that was said since. Exit code 1 if so.

The documentation (https://learn.microsoft.com/en-us/agent-framework/agents/tools/tool-approval) says how an approval is given, and not until when.
"""

import asyncio

from scripted import Agent, Message, RAN, SAID, SENT, Talking, call, pay, text


async def main():
    agent = Agent(client=Talking(), tools=[pay])
    session = agent.create_session()
    SAID.extend([call("p", "pay"), text("Never mind then."), text("Done")])
    paused = await agent.run("Pay", session=session)
    await agent.run("Stop, do not pay", session=session)
    await agent.run(Message("user", [paused.user_input_requests[0].to_function_approval_response(True)]), session=session)


asyncio.run(main())
print(*SENT[-1], sep="\n")
print("ran:", RAN)
assert not RAN, "a call that the conversation went past is executed"
