"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from crewai import Agent, BaseLLM
from crewai.tools import tool

SENT = []
CALLS = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id, name in CALLS]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


@tool("look")
def look():
    """Looks."""
    return [True, None]
