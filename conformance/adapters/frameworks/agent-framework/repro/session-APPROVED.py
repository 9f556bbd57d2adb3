"""A call is approved and executed, and the model fails behind it. Nothing of it is in the next request, neither the call nor its result, though it is done.
Exit code 1 if so.

The documentation (https://learn.microsoft.com/en-us/agent-framework/agents/conversations/storage) says that history is stored when a run is over.
"""

import asyncio

from scripted import Agent, Message, RAN, SAID, SENT, Talking, call, pay, text


async def main():
    agent = Agent(client=Talking(), tools=[pay])
    session = agent.create_session()
    SAID.extend([call("p", "pay"), ConnectionError("overloaded"), text("Done")])
    paused = await agent.run("Pay", session=session)
    try:
        await agent.run(Message("user", [paused.user_input_requests[0].to_function_approval_response(True)]), session=session)
    except Exception as error:
        print("the run failed:", error)
    await agent.run("Is it paid?", session=session)


asyncio.run(main())
print(*SENT[-1], sep="\n")
print("ran:", RAN)
assert not RAN or "paid" in str(SENT[-1][1:-1]), "it is paid, and the model does not see it"
