"""A run is cancelled while its tool works. It goes on to the last response of the model all the same, and nothing of it is in the next request: neither what the
user said nor what was done. Exit code 1 if so.

The documentation (https://docs.agno.com/history/agent/overview) says that the runs of a session are its history; that cancelled ones are not it does not say.
"""

import os
import tempfile

os.environ["AGNO_TELEMETRY"] = "false"

from scripted import Agent, RAN, SAID, SENT, SqliteDb, Talking, call, tool


@tool
def pay():
    """Pays."""
    Agent.cancel_run("first")
    RAN.append("pay")
    return "paid"


db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Talking(id="scripted"), tools=[pay], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("p", "pay")], "It is paid.", "Done"])
print(agent.run("Pay Alice", run_id="first").content)
agent.run("Pay whom?")
print(*SENT[-1], f"ran: {RAN}, asked {len(SENT)} times", sep="\n")
assert "Pay Alice" in str(SENT[-1]), "it is paid, and the model does not see that it was asked to"
