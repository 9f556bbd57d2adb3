"""A call was never answered, and the conversation went on. The history is sent as it is, and no provider takes it. Exit code 1 if so."""

from strands import Agent, tool
from strands.models import Model

SENT = []


class Scripted(Model):
    get_config = update_config = structured_output = lambda self, *others, **options: {}

    async def stream(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [] if len(SENT) == 1 else []
        yield {"messageStart": {"role": "assistant"}}
        for start, delta in [({"toolUse": call}, {"toolUse": {"input": "{}"}}) for call in calls] or [({}, {"text": "Done"})]:
            for event in ({"contentBlockStart": {"start": start}}, {"contentBlockDelta": {"delta": delta}}, {"contentBlockStop": {}}):
                yield event
        yield {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}}


asked, sorry = {"toolUse": {"toolUseId": "h1", "name": "look", "input": {}}}, {"role": "assistant", "content": [{"text": "Sorry."}]}
HISTORY = [{"role": "assistant", "content": [asked]}, {"role": "user", "content": [{"text": "Well?"}]}, sorry]


Agent(model=Scripted(), tools=[], messages=HISTORY, callback_handler=None)("Again")
assert "toolResult" in str(SENT[0]), "h1 has no answer"
