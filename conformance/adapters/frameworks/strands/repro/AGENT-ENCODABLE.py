"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

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
    return "\ud83d"


Agent(model=Scripted(), tools=[look], messages=[{"role": "user", "content": [{"text": "Go"}]}], callback_handler=None)()
assert "\ud83d" not in SENT[-1][-1]["content"][0]["toolResult"]["content"][0]["text"], ascii(SENT[-1][-1]["content"][0]["toolResult"]["content"][0]["text"])
