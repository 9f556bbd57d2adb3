"""The model uses one id twice. Both calls and both answers are sent with it. Exit code 1 if so."""

import asyncio
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

SENT = []


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request)
        calls = [Part(function_call=FunctionCall(id=id, name="look", args={})) for id in ["c1", "c1"]] if len(SENT) == 1 else []
        yield LlmResponse(content=Content(role="model", parts=calls or [Part(text="Done")]))


def look():
    """Looks."""
    return "r"


runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
asyncio.run(runner.run_debug("Go", quiet=True))
print(SENT[-1].config.system_instruction, SENT[-1].contents)
ids = [part.function_response.id for part in SENT[-1].contents[-1].parts]
assert len(set(ids)) == len(ids), ids
