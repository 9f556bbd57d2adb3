"""A run is cancelled with its token while a tool works. The tool ends, and the run never does: it waits for its results for ever. Exit code 1 if so.

The documentation says how a run is cancelled (https://microsoft.github.io/autogen/stable/user-guide/agentchat-user-guide/tutorial/agents.html), and not that it must be ended otherwise.
"""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage

SAID = []
ABILITIES = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}


class Scripted(ChatCompletionClient):
    async def create(self, messages, **options):
        said = SAID.pop(0)
        return CreateResult(finish_reason="stop", content=said, usage=RequestUsage(0, 0), cached=False)

    model_info = capabilities = property(lambda self: ABILITIES)
    actual_usage = total_usage = lambda self: RequestUsage(0, 0)
    count_tokens = remaining_tokens = lambda self, messages, **options: 0
    create_stream = close = None


async def pay(whom: str) -> str:
    """Pays somebody."""
    if whom == "bob":
        await asyncio.sleep(9)
    return f"{whom} is paid"


async def main():
    agent = AssistantAgent("agent", Scripted(), tools=[pay])
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
