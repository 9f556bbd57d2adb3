"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio

from autogen_core.model_context import UnboundedChatCompletionContext
from autogen_core.models import UserMessage
from scripted import AssistantAgent, AssistantMessage, FunctionCall, SENT, Scripted

ASKED = AssistantMessage(content=[FunctionCall(id="h1", name="look", arguments="{}")], source="agent")
HISTORY = UnboundedChatCompletionContext(initial_messages=[ASKED, UserMessage(content="Well?", source="user")])
asyncio.run(AssistantAgent("agent", Scripted(), model_context=HISTORY).run())
assert any(message.type == "FunctionExecutionResultMessage" for message in SENT[0]), "h1 has no answer"
