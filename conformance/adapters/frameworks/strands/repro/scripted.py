"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from strands import Agent, tool
from strands.models import Model

SENT = []
CALLS = []


class Scripted(Model):
    get_config = update_config = structured_output = lambda self, *others, **options: {}

    async def stream(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = CALLS if len(SENT) == 1 else []
        yield {"messageStart": {"role": "assistant"}}
        for start, delta in [({"toolUse": call}, {"toolUse": {"input": "{}"}}) for call in calls] or [({}, {"text": "Done"})]:
            for event in ({"contentBlockStart": {"start": start}}, {"contentBlockDelta": {"delta": delta}}, {"contentBlockStop": {}}):
                yield event
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


@tool
def look():
    """Looks."""
    return "r"
