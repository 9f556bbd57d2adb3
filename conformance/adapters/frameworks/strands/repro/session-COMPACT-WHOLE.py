"""A long turn is summarized, as it is when the context window is full: the question that the tools work on goes into the summary with the rest, and
the model is not shown what it was asked. Exit code 1 if so.

The documentation says that the oldest messages are summarized and the recent ones kept; that the user message of an open turn may be among the oldest it does not say.
"""

import os

os.environ["OTEL_SDK_DISABLED"] = "true"

from scripted import Agent, Model, SENT, tool
from strands.agent.conversation_manager import SummarizingConversationManager


class Scripted(Model):
    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        SENT.append(list(messages))
        looks = tool_specs and len(SENT) < 3
        if len(SENT) == 3:
            raise ConnectionError("overloaded")
        yield {"messageStart": {"role": "assistant"}}
        if looks:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": f"call_{len(SENT)}", "name": "look"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}"}}}}
        else:
            yield {"contentBlockStart": {"start": {}}}
            yield {"contentBlockDelta": {"delta": {"text": "A talk about contracts."}}}
        yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if looks else "end_turn"}}

    get_config = update_config = structured_output = None


@tool
def look() -> str:
    """Reads a contract."""
    return "twelve clauses"


manager = SummarizingConversationManager(summary_ratio=0.8, preserve_recent_messages=2)
agent = Agent(model=Scripted(), tools=[look], callback_handler=None, conversation_manager=manager)
try:
    agent("Compare the two contracts, and tell me which is safer")
except Exception as error:
    print("the model failed:", error)
manager.reduce_context(agent)
agent()
for message in SENT[-1]:
    print(message["role"], message["content"])
assert "which is safer" in str(SENT[-1]), "the question is gone"
