"""A run is cancelled while a tool works. Its calls stay without an answer in every later request, which a provider refuses. Exit code 1 if so.

The documentation says how a run is cancelled (https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/agents.html), and of a team that it may be left in an
inconsistent state (https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/teams.html#aborting-a-team); that an agent's thread is refused from then on it does not say.
"""

import asyncio

from scripted import AssistantAgent, AssistantMessage, CancellationToken, FunctionCall, SAID, SENT, Talking, pay


async def main():
    agent = AssistantAgent("agent", Talking(), tools=[pay])
    SAID.extend([[FunctionCall(id=whom, name="pay", arguments=f'{{"whom": "{whom}"}}') for whom in ["alice", "bob"]], "Done"])
    token = CancellationToken()
    run = asyncio.create_task(agent.run(task="Pay both", cancellation_token=token))
    await asyncio.sleep(0.5)
    token.cancel()
    run.cancel()
    await asyncio.wait([run])
    await agent.run(task="Who is paid?")


asyncio.run(main())
print(*SENT[-1], sep="\n")
assert not isinstance(SENT[-1][-2], AssistantMessage), "the calls are not answered before the next message"
