"""Two calls are confirmed, and the run is aborted while the second one works. The first had returned, and the model is told that it still requires confirmation,
though what it does is done. Exit code 1 if so.

The documentation of confirmations (https://google.github.io/adk-docs/tools-custom/confirmation/) does not announce it.
"""

import asyncio

from scripted import Content, FunctionCall, FunctionResponse, FunctionTool, InMemoryRunner, LlmAgent, Part, RAN, SAID, SENT, STOP, Talking


async def pay(whom: str):
    """Pays somebody."""
    if whom == "bob":
        await asyncio.sleep(0.2)
        STOP.set()
        await asyncio.sleep(9)
    RAN.append(whom)
    return f"{whom} is paid"


async def main():
    runner = InMemoryRunner(LlmAgent(name="agent", model=Talking(model="scripted"), tools=[FunctionTool(pay, require_confirmation=True)]))
    await runner.session_service.create_session(app_name=runner.app_name, user_id="user", session_id="1")

    async def run(*parts, **options):
        return [event async for event in runner.run_async(user_id="user", session_id="1", new_message=Content(role="user", parts=[*parts]), **options)]

    calls = [Part(function_call=FunctionCall(id=whom, name="pay", args={"whom": whom})) for whom in ["alice", "bob"]]
    SAID.extend([calls, [Part(text="Done")]])
    events = await run(Part(text="Pay both"))
    asked = [call.id for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"]
    await run(*(Part(function_response=FunctionResponse(id=id, name="adk_request_confirmation", response={"confirmed": True})) for id in asked), abort_signal=STOP)
    await run(Part(text="Who is paid?"))


asyncio.run(main())
answers = [(part.function_response.id, part.function_response.response) for content in SENT[-1] for part in content.parts if part.function_response]
print(*answers, f"ran: {RAN}", sep="\n")
assert "alice is paid" in str(dict(answers).get("alice")), "alice was paid, and the model is told that it still requires confirmation"
