"""A session has an answer whose call was cut away. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio

from scripted import Agent, Runner, SENT, SQLiteSession, Scripted, set_tracing_disabled

set_tracing_disabled(True)
session = SQLiteSession("stored")
asyncio.run(session.add_items([{"type": "function_call_output", "call_id": "h1", "output": "seen"}]))
Runner.run_sync(Agent(name="agent", model=Scripted()), "Well?", session=session)
print(SENT[-1])
assert all(item.get("type") != "function_call_output" for item in SENT[0]), "h1 has no call"
