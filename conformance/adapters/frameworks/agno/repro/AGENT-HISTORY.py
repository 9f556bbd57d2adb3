"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

SENT = []


class Scripted(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id in []]
        return ModelResponse(role="assistant", tool_calls=calls) if len(SENT) == 1 and calls else ModelResponse(role="assistant", content="Done")


def look():
    """Looks."""
    return "r"


Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run([
    Message(role="assistant", tool_calls=[{"id": "h1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]),
    Message(role="user", content="Well?"),
])
print([(message.role, message.content) for message in SENT[-1]])
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
