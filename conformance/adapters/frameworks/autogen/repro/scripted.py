"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.models import AssistantMessage, ChatCompletionClient, CreateResult, RequestUsage

SENT = []
CALLS = []
SAID = []
ABILITIES = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}


class Scripted(ChatCompletionClient):
    async def create(self, messages, **options):
        SENT.append(list(messages))
        turn = CALLS if CALLS and len(SENT) == 1 else "Done"
        return CreateResult(finish_reason="stop", content=turn, usage=RequestUsage(0, 0), cached=False)

    model_info = capabilities = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}
    actual_usage = total_usage = count_tokens = remaining_tokens = create_stream = close = None


class Talking(ChatCompletionClient):
    async def create(self, messages, **options):
        SENT.append(messages)
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
