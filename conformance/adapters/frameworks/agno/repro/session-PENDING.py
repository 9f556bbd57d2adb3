"""A call waits for confirmation, the user writes something else, and the model answers. Then the old question is confirmed after all: the call runs, though
the conversation has gone on. Exit code 1 if so.

The documentation (https://docs.agno.com/hitl/user-confirmation) says how a call is confirmed, and not until when.
"""

import os
import tempfile

os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.models.base import Model
from agno.models.response import ModelResponse
from agno.tools import tool

SENT, SAID, RAN = [], [], []


class Scripted(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append([(message.role, message.content, message.tool_calls or message.tool_call_id) for message in messages])
        said = SAID.pop(0)
        return ModelResponse(role="assistant", **({"content": said} if isinstance(said, str) else {"tool_calls": said}))


def call(id, name):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}


@tool(requires_confirmation=True)
def pay():
    """Pays."""
    RAN.append("pay")
    return "paid"


db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Scripted(id="scripted"), tools=[pay], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("p", "pay")], "Never mind then.", "Done"])
paused = agent.run("Pay")
agent.run("Stop, do not pay")
paused.active_requirements[0].confirm()
agent.continue_run(run_id=paused.run_id, requirements=paused.requirements)
print(*SENT[-1], f"ran: {RAN}", sep="\n")
assert not RAN, "a call that the conversation went past is executed"
