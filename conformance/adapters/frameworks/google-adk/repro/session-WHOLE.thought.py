"""The process ends while the only tool of a response works. The next request, and each one behind it, has the thought of that response, with its signature, and
neither a text nor the call that it was about: a thought alone. Exit code 1 if so.

The documentation (https://google.github.io/adk-docs/runtime/resume/#how-it-works) speaks of the results of tools; that a call without one is left out of the next
request, and its thought is not, it does not say.
"""

import asyncio
import os
import subprocess
import sys
import tempfile

from scripted import BaseLlm, Content, FunctionCall, LlmAgent, LlmResponse, Part, Runner, SENT, SqliteSessionService

CALL = [Part(text="Alice it is.", thought=True, thought_signature=b"signed"), Part(function_call=FunctionCall(id="p", name="pay", args={}))]


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request.contents)
        yield LlmResponse(content=Content(role="model", parts=CALL if len(llm_request.contents) == 1 else [Part(text="Done")]))


async def pay():
    """Pays."""
    await asyncio.sleep(0.5)
    os._exit(9)


async def run(folder, text):
    service = SqliteSessionService(f"{folder}/sessions.db")
    owner = {"user_id": "user", "session_id": "1"}
    if not await service.get_session(app_name="app", **owner):
        await service.create_session(app_name="app", **owner)
    runner = Runner(app_name="app", agent=LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[pay]), session_service=service)
    [_ async for _ in runner.run_async(**owner, new_message=Content(role="user", parts=[Part(text=text)]))]


if len(sys.argv) > 1:
    asyncio.run(run(sys.argv[1], "Pay Alice"))
with tempfile.TemporaryDirectory() as folder:
    assert subprocess.run([sys.executable, __file__, folder]).returncode == 9
    asyncio.run(run(folder, "Who is paid?"))
for content in SENT[-1]:
    print(content.role, [part.model_dump(exclude_none=True) for part in content.parts])
alone = [content for content in SENT[-1] if content.role == "model" and all(part.thought for part in content.parts)]
assert not alone, "the thought of the call stands alone"
