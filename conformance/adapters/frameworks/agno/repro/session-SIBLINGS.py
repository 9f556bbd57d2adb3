"""Two calls, one of which waits for confirmation. The other one returns an object, and the model gets it as Python writes it, which is no JSON. Exit code 1 if so.

The documentation of tools (https://docs.agno.com/tools/creating-tools/overview) does not announce it.
"""

import os
import tempfile

os.environ["AGNO_TELEMETRY"] = "false"

from scripted import Agent, SAID, SENT, SqliteDb, Talking, call, pay, tool


@tool
def balance():
    """Says what is left."""
    return {"net": 30.5, "ok": True, "left": None}


db = SqliteDb(db_file=f"{tempfile.mkdtemp()}/agno.db")
agent = Agent(model=Talking(id="scripted"), tools=[pay, balance], db=db, session_id="1", add_history_to_context=True, telemetry=False)
SAID.extend([[call("b", "balance"), call("p", "pay")], "Done"])
paused = agent.run("Pay")
paused.active_requirements[0].confirm()
agent.continue_run(run_id=paused.run_id, requirements=paused.requirements)
print(*SENT[-1], sep="\n")
told = dict((id, content) for role, content, id in SENT[-1] if role == "tool")
assert "null" in told["b"], told["b"]
