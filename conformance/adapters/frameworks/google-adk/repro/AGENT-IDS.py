"""The model uses one id twice. Both calls and both answers are sent with it. Exit code 1 if so."""

import asyncio

from scripted import CALLS, InMemoryRunner, LlmAgent, SENT, Scripted, look

CALLS.extend(["c1", "c1"])
runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
asyncio.run(runner.run_debug("Go", quiet=True))
print(SENT[-1].config.system_instruction, SENT[-1].contents)
ids = [part.function_response.id for part in SENT[-1].contents[-1].parts]
assert len(set(ids)) == len(ids), ids
