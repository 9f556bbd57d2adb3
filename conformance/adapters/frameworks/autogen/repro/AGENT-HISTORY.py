"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio
from autogen_agentchat.agents import AssistantAgent
from autogen_core import FunctionCall
from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import AssistantMessage, ChatCompletionClient, CreateResult, RequestUsage, UserMessage

SENT = []


class Scripted(ChatCompletionClient):
    async def create(self, messages, **options):
        SENT.append(list(messages))
        return CreateResult(finish_reason="stop", content="Done", usage=RequestUsage(0, 0), cached=False)

    model_info = capabilities = {"vision": False, "function_calling": True, "json_output": False, "structured_output": False, "family": "unknown"}
    actual_usage = total_usage = count_tokens = remaining_tokens = create_stream = close = None


ASKED = AssistantMessage(content=[FunctionCall(id="h1", name="look", arguments="{}")], source="agent")
HISTORY = UnboundedChatCompletionContext(initial_messages=[ASKED, UserMessage(content="Well?", source="user")])
asyncio.run(AssistantAgent("agent", Scripted(), model_context=HISTORY).run())
assert any(message.type == "FunctionExecutionResultMessage" for message in SENT[0]), "h1 has no answer"
