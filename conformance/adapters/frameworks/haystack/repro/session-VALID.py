"""An agent without tools gets a call from its model. The call stays without an answer in the messages that the run hands back, and a provider refuses them in the
next one. Exit code 1 if so.

The documentation says that an agent without tools gives one response and stops (https://docs.haystack.deepset.ai/reference/agents-api), and not what becomes of its calls.
"""

import os

os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from scripted import Agent, CALLS, ChatMessage, SENT, Tool, ToolCall, component


@component
class Scripted:
    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        SENT.append(list(messages))
        calls = CALLS if len(SENT) == 1 else []
        return {"replies": [ChatMessage.from_assistant(None if calls else "Done", tool_calls=calls)]}


CALLS.extend([ToolCall("look", {}, "c1")])
agent = Agent(chat_generator=Scripted())
first = agent.run(messages=[ChatMessage.from_user("Look")])
agent.run(messages=[*first["messages"], ChatMessage.from_user("And now?")])
print(*SENT[-1], sep="\n")
assert not SENT[-1][-2].tool_calls, "the call is not answered before the next message"
