"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from agno.agent import Agent
from agno.models.base import Model
from agno.models.message import Message
from agno.models.response import ModelResponse

SENT = []


class Scripted(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id in ["c1"]]
        return ModelResponse(role="assistant", tool_calls=calls) if len(SENT) == 1 and calls else ModelResponse(role="assistant", content="Done")


def look():
    """Looks."""
    return "\ud83d"


Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
assert "\ud83d" not in SENT[-1][-1].content, ascii(SENT[-1][-1].content)
