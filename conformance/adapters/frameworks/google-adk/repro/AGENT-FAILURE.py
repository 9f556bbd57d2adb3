"""A tool raises. The run ends with its exception. Exit code 1 if so."""

import asyncio
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

SENT = []


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request)
        calls = [Part(function_call=FunctionCall(id=id, name="look", args={})) for id in ["c1"]] if len(SENT) == 1 else []
        yield LlmResponse(content=Content(role="model", parts=calls or [Part(text="Done")]))


def look():
    """Looks."""
    raise ValueError("no disk")


runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
try:
    asyncio.run(runner.run_debug("Go", quiet=True))
finally:
    assert len(SENT) == 2, "the model was not asked again"
