"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.models import ChatCompletionClient, CreateResult, RequestUsage

SENT = []


class Scripted(ChatCompletionClient):
    async def create(self, messages, **options):
        SENT.append(list(messages))
        turn = [FunctionCall(id="c1", name="look", arguments="{}")] if len(SENT) == 1 else "Done"
        return CreateResult(finish_reason="stop", content=turn, usage=RequestUsage(0, 0), cached=False)

    model_info = capabilities = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}
    actual_usage = total_usage = count_tokens = remaining_tokens = create_stream = close = None


def look() -> str:
    """Looks."""
    return "\ud83d"


asyncio.run(AssistantAgent("agent", Scripted(), tools=[look], max_tool_iterations=2).run(task="Go"))
assert "\ud83d" not in SENT[-1][-1].content[0].content, ascii(SENT[-1][-1].content[0].content)
