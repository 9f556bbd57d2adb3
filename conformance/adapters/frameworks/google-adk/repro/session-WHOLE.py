"""The process ends while the second of two tools works. The next request has the text of the response and none of its calls, though the first had returned and
what it did is done. Exit code 1 if so.

The documentation says that results of tools which returned are logged and reinstated (https://google.github.io/adk-docs/runtime/resume/#how-it-works);
that all results of a response are one event, written when the last tool ends, it does not say.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

from scripted import BaseLlm, Content, FunctionCall, LlmAgent, LlmResponse, Part, Runner, SENT, SqliteSessionService

CALLS = [Part(text="I pay both."), *(Part(function_call=FunctionCall(id=whom, name="pay", args={"whom": whom})) for whom in ["alice", "bob"])]


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request.contents)
        yield LlmResponse(content=Content(role="model", parts=CALLS if len(llm_request.contents) == 1 else [Part(text="Done")]))


async def pay(whom: str):
    """Pays somebody."""
    if whom == "bob":
        await asyncio.sleep(0.5)
        os._exit(9)
    return f"{whom} is paid"


async def run(folder, text):
    service = SqliteSessionService(f"{folder}/sessions.db")
    owner = {"user_id": "user", "session_id": "1"}
    if not await service.get_session(app_name="app", **owner):
        await service.create_session(app_name="app", **owner)
    runner = Runner(app_name="app", agent=LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[pay]), session_service=service)
    [_ async for _ in runner.run_async(**owner, new_message=Content(role="user", parts=[Part(text=text)]))]


if len(sys.argv) > 1:
    asyncio.run(run(sys.argv[1], "Pay both"))
with tempfile.TemporaryDirectory() as folder:
    assert subprocess.run([sys.executable, __file__, folder]).returncode == 9
    asyncio.run(run(folder, "Who is paid?"))
for content in SENT[-1]:
    print(content.role, [part.model_dump(exclude_none=True) for part in content.parts])
calls = [part.function_call.id for content in SENT[-1] for part in content.parts if part.function_call]
assert "alice" in calls, "alice was paid, and the model does not see that it asked for it"
