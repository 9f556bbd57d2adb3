"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

import asyncio

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner, Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool
from google.genai.types import Content, FunctionCall, FunctionResponse, Part

SENT = []
CALLS = []
SAID = []
RAN = []
STOP = asyncio.Event()


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request)
        calls = [Part(function_call=FunctionCall(id=id, name="look", args={})) for id in CALLS] if len(SENT) == 1 else []
        yield LlmResponse(content=Content(role="model", parts=calls or [Part(text="Done")]))


class Talking(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request.contents)
        yield LlmResponse(content=Content(role="model", parts=SAID.pop(0)))


def look():
    """Looks."""
    return "r"


def call(id, name):
    return Part(function_call=FunctionCall(id=id, name=name, args={}))


async def run(folder, text):
    service = SqliteSessionService(f"{folder}/sessions.db")
    owner = {"user_id": "user", "session_id": "1"}
    if not await service.get_session(app_name="app", **owner):
        await service.create_session(app_name="app", **owner)
    runner = Runner(app_name="app", agent=LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[pay]), session_service=service)
    [_ async for _ in runner.run_async(**owner, new_message=Content(role="user", parts=[Part(text=text)]))]
