"""A run is aborted while the second of two tools works. The result of the first, which had returned, is lost: the model is told that it was aborted, though
what it did is done. Exit code 1 if so.

The documentation says of a cancelled run that "events already committed" persist (https://google.github.io/adk-docs/runtime/cancel/, for TypeScript; `abort_signal`
of `run_async` is Python's), and of a resumed one that the results of tools which returned are reinstated; that all results of a response are one event it does not say.
"""

import asyncio

from scripted import Content, InMemoryRunner, LlmAgent, Part, SAID, SENT, STOP, Talking, call


async def alice():
    """Pays Alice."""
    return "alice is paid"


async def bob():
    """Pays Bob."""
    await asyncio.sleep(0.2)
    STOP.set()
    await asyncio.sleep(9)


def answers():
    return {part.function_response.id: part.function_response.response for content in SENT[-1] for part in content.parts if part.function_response}


async def main():
    runner = InMemoryRunner(LlmAgent(name="agent", model=Talking(model="scripted"), tools=[alice, bob]))
    await runner.session_service.create_session(app_name=runner.app_name, user_id="user", session_id="1")

    async def run(text, **options):
        [_ async for _ in runner.run_async(user_id="user", session_id="1", new_message=Content(role="user", parts=[Part(text=text)]), **options)]

    SAID.extend([[call("a", "alice"), call("b", "bob")], [Part(text="Done")]])
    await run("Pay both", abort_signal=STOP)
    await run("Who is paid?")


asyncio.run(main())
print(answers())
assert "alice is paid" in str(answers()["a"]), "alice was paid, and the model is told that she was not"
