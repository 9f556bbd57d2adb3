"""A call waits for confirmation, the user writes something else, and the model answers. Then the old question is confirmed after all: the call runs, though
the conversation has gone on. Exit code 1 if so.

The documentation (https://docs.agno.com/hitl/user-confirmation) says how a call is confirmed, and not until when.
"""

import os
import tempfile

os.environ["AGNO_TELEMETRY"] = "false"

from scripted import Agent, RAN, SAID, SENT, SqliteDb, Talking, call, pay

db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Talking(id="scripted"), tools=[pay], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("p", "pay")], "Never mind then.", "Done"])
paused = agent.run("Pay")
agent.run("Stop, do not pay")
paused.active_requirements[0].confirm()
agent.continue_run(run_id=paused.run_id, requirements=paused.requirements)
print(*SENT[-1], f"ran: {RAN}", sep="\n")
assert not RAN, "a call that the conversation went past is executed"
