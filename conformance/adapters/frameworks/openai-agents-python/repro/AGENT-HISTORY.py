"""A session has an answer whose call was cut away. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio
from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, set_tracing_disabled
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

SENT = []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse([done], Usage(), None)


set_tracing_disabled(True)
session = SQLiteSession("stored")
asyncio.run(session.add_items([{"type": "function_call_output", "call_id": "h1", "output": "seen"}]))
Runner.run_sync(Agent(name="agent", model=Scripted()), "Well?", session=session)
print(SENT[-1])
assert all(item.get("type") != "function_call_output" for item in SENT[0]), "h1 has no call"
