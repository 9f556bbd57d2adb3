"""The run adds its messages to the caller's own list. Exit code 1 if so."""

from strands import Agent, tool
from strands.models import Model

SENT = []


class Scripted(Model):
    get_config = update_config = structured_output = lambda self, *others, **options: {}

    async def stream(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"toolUseId": "c1", "name": "look"}] if len(SENT) == 1 else []
        yield {"messageStart": {"role": "assistant"}}
        for start, delta in [({"toolUse": call}, {"toolUse": {"input": "{}"}}) for call in calls] or [({}, {"text": "Done"})]:
            for event in ({"contentBlockStart": {"start": start}}, {"contentBlockDelta": {"delta": delta}}, {"contentBlockStop": {}}):
                yield event
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


@tool
def look():
    """Looks."""
    return "r"


given = [{"role": "user", "content": [{"text": "Go"}]}]
Agent(model=Scripted(), tools=[look], messages=given, callback_handler=None)()
assert len(given) == 1, given
