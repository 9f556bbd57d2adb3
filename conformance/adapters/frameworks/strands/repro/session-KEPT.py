"""The process ends while the second of three tools works. The results of the other two, which had returned, are lost: the model is told that they were
interrupted, though what they did is done. Exit code 1 if so.

The documentation says that a `FileSessionManager` stores each message as it is added; that a message holds the results of all tools of a response, and is
added when the last one ends, it does not say.
"""

import os
import subprocess
import sys
import tempfile
import time

os.environ["OTEL_SDK_DISABLED"] = "true"

from scripted import Agent, Model, SENT, tool
from strands.session import FileSessionManager


class Scripted(Model):
    def __init__(self, calls):
        self.calls = calls

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        SENT.append(messages)
        yield {"messageStart": {"role": "assistant"}}
        for id in self.calls:
            yield {"contentBlockStart": {"start": {"toolUse": {"toolUseId": id, "name": "pay"}}}}
            yield {"contentBlockDelta": {"delta": {"toolUse": {"input": f'{{"whom": "{id}"}}'}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if self.calls else "end_turn"}}

    get_config = update_config = structured_output = None


@tool
def pay(whom: str) -> str:
    """Pays somebody."""
    if whom == "bob":
        time.sleep(1)
        os._exit(9)
    return f"{whom} is paid"


def agent(*calls):
    return Agent(model=Scripted(calls), tools=[pay], callback_handler=None, session_manager=FileSessionManager("1", sys.argv[1]))


if len(sys.argv) > 1:
    agent("alice", "bob", "carol")("Pay all three")
with tempfile.TemporaryDirectory() as folder:
    assert subprocess.run([sys.executable, __file__, folder]).returncode == 9
    sys.argv.append(folder)
    agent()("Who is paid?")
answers = [(block["toolResult"]["toolUseId"], block["toolResult"]["content"]) for block in SENT[-1][2]["content"] if "toolResult" in block]
print(*answers, sep="\n")
assert ("alice", [{"text": "alice is paid"}]) in answers, "alice was paid, and the model is told that she was not"
