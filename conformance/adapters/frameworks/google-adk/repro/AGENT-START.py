"""The agent has no instruction. The model is given one all the same. Exit code 1 if so."""

import asyncio
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, FunctionCall, Part

SENT = []


class Scripted(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        SENT.append(llm_request)
        calls = [Part(function_call=FunctionCall(id=id, name="look", args={})) for id in []] if len(SENT) == 1 else []
        yield LlmResponse(content=Content(role="model", parts=calls or [Part(text="Done")]))


def look():
    """Looks."""
    return "r"


runner = InMemoryRunner(LlmAgent(name="agent", model=Scripted(model="scripted"), tools=[look]))
asyncio.run(runner.run_debug("Go", quiet=True))
print(SENT[-1].config.system_instruction, SENT[-1].contents)
assert not SENT[0].config.system_instruction, SENT[0].config.system_instruction
