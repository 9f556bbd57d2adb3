"""A call waits for confirmation, the user writes something else, and the model answers. Then the old question is confirmed after all, and what was said in
between is in no request any more. Exit code 1 if so.

The documentation (https://google.github.io/adk-docs/tools-custom/confirmation/) does not announce it.
"""

import asyncio

from google.adk.apps import App, ResumabilityConfig
from google.adk.sessions import InMemorySessionService
from scripted import Content, FunctionResponse, FunctionTool, LlmAgent, Part, Runner, SAID, SENT, Talking, call


def pay():
    """Pays."""
    return "paid"


async def main():
    agent = LlmAgent(name="agent", model=Talking(model="scripted"), tools=[FunctionTool(pay, require_confirmation=True)])
    service = InMemorySessionService()
    runner = Runner(app=App(name="app", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=True)), session_service=service)
    await service.create_session(app_name="app", user_id="user", session_id="1")

    async def run(*parts):
        return [event async for event in runner.run_async(user_id="user", session_id="1", new_message=Content(role="user", parts=[*parts]))]

    SAID.extend([[call("p", "pay")], [Part(text="Never mind then.")], [Part(text="Done")], [Part(text="Done")]])
    events = await run(Part(text="Pay"))
    asked = next(call.id for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation")
    await run(Part(text="Stop, do not pay"))
    await run(Part(function_response=FunctionResponse(id=asked, name="adk_request_confirmation", response={"confirmed": True})))


asyncio.run(main())
print(*SENT[-1], sep="\n")
texts = [part.text for content in SENT[-1] for part in content.parts]
assert "Stop, do not pay" in texts, "the user said `Stop, do not pay`, and the model does not see it"
