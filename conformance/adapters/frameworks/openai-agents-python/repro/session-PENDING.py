"""A call waits for approval, the user writes something else, and the model answers. Then the old question is approved after all: the call runs, though
the conversation has gone on. Exit code 1 if so.

The documentation says how input is added to a paused run (`RunState.add_input`, https://openai.github.io/openai-agents-python/results/) and that a run that waits is not to be followed by
a new turn (https://openai.github.io/openai-agents-python/streaming/), but neither the new turn nor the old decision is refused.
"""

import asyncio

from scripted import Agent, RAN, Runner, SENT, SQLiteSession, Talking, delete, set_tracing_disabled


async def main():
    session, agent = SQLiteSession("1"), Agent(name="agent", model=Talking(), tools=[delete])
    paused = await Runner.run(agent, "Delete the files", session=session)
    state = paused.to_state()
    await Runner.run(agent, "Stop, keep them", session=session)
    state.approve(state.get_interruptions()[0])
    await Runner.run(agent, state, session=session)


set_tracing_disabled(True)
asyncio.run(main())
print(*SENT[-1], sep="\n")
print("ran:", RAN)
assert not RAN, "a call that the conversation went past is executed"
