"""A run is cancelled while its tool works. It goes on to the last response of the model all the same, and nothing of it is in the next request: neither what the
user said nor what was done. Exit code 1 if so.

The documentation (https://docs.agno.com/history/agent/overview) says that the runs of a session are its history; that cancelled ones are not it does not say.
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


@tool
def pay():
    """Pays."""
    Agent.cancel_run("first")
    RAN.append("pay")
    return "paid"


db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Scripted(id="scripted"), tools=[pay], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("p", "pay")], "It is paid.", "Done"])
print(agent.run("Pay Alice", run_id="first").content)
agent.run("Pay whom?")
print(*SENT[-1], f"ran: {RAN}, asked {len(SENT)} times", sep="\n")
assert "Pay Alice" in str(SENT[-1]), "it is paid, and the model does not see that it was asked to"
