"""A call waits for approval, the user writes something else, and the model answers. Then the old question is approved after all: what was said in
between is not in the request. Exit code 1 if so.

The documentation says that a `RunState` goes on where its run stopped (https://openai.github.io/openai-agents-python/human_in_the_loop/), and that with a session "the resumed turn is appended to
the same stored conversation history"; that the request leaves out what the session has got since then it does not say.
"""

import asyncio

from scripted import Agent, Runner, SENT, SQLiteSession, Talking, delete, set_tracing_disabled


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
assert "keep them" in str(SENT[-1]), "what the user said is not in the request"
