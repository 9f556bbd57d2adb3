"""A run is cancelled with its token while a tool works. The tool ends, and the run never does: it waits for its results for ever. Exit code 1 if so.

The documentation says how a run is cancelled (https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/agents.html), and not that it must be ended otherwise.
"""

import asyncio

from scripted import AssistantAgent, CancellationToken, FunctionCall, SAID, Talking, pay


async def main():
    agent = AssistantAgent("agent", Talking(), tools=[pay])
    SAID.extend([[FunctionCall(id=whom, name="pay", arguments=f'{{"whom": "{whom}"}}') for whom in ["alice", "bob"]], "Done"])
    token = CancellationToken()
    run = asyncio.create_task(agent.run(task="Pay both", cancellation_token=token))
    await asyncio.sleep(0.5)
    token.cancel()
    ended, _ = await asyncio.wait([run], timeout=5)
    run.cancel()
    return ended


ended = asyncio.run(main())
print("ended" if ended else "five seconds behind the cancellation the run has not ended")
assert ended, "the run that was cancelled does not end"
