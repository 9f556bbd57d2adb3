"""The agent has no instruction. The model is given one all the same. Exit code 1 if so."""

import asyncio

from scripted import InMemoryRunner, LlmAgent, SENT, Scripted, look

runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
asyncio.run(runner.run_debug("Go", quiet=True))
print(SENT[-1].config.system_instruction, SENT[-1].contents)
assert not SENT[0].config.system_instruction, SENT[0].config.system_instruction
