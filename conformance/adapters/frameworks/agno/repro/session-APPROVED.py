"""A run that waits for confirmation is continued without one. The model is told that the user rejected the call; then the user confirms it, and it is executed.
Exit code 1 if so.

The documentation (https://docs.agno.com/hitl/user-confirmation) does not announce it.
"""

import os
import tempfile

os.environ["AGNO_TELEMETRY"] = "false"

from scripted import Agent, RAN, SAID, SENT, SqliteDb, Talking, call, pay

db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Talking(id="scripted"), tools=[pay], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("p", "pay")], "You said no.", "Done"])
paused = agent.run("Pay")
agent.continue_run(run_id=paused.run_id)
print(*SENT[-1], sep="\n")
paused.active_requirements[0].confirm()
agent.continue_run(run_id=paused.run_id, requirements=paused.requirements)
print(*SENT[-1], f"ran: {RAN}", sep="\n")
assert not RAN, "the model was told that the call is rejected, and it is executed"
