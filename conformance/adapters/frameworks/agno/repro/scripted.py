"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse
from agno.tools import tool

SENT = []
CALLS = []
SAID = []
RAN = []


class Scripted(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id, name in CALLS]
        return ModelResponse(role="assistant", tool_calls=calls) if len(SENT) == 1 and calls else ModelResponse(role="assistant", content="Done")


class Talking(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append([(message.role, message.content, message.tool_calls or message.tool_call_id) for message in messages])
        said = SAID.pop(0)
        return ModelResponse(role="assistant", **({"content": said} if isinstance(said, str) else {"tool_calls": said}))


def look():
    """Looks."""
    return "r"


def call(id, name):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


@tool(requires_confirmation=True)
def pay():
    """Pays."""
    RAN.append("pay")
    return "paid"
