"""A tool raises. The model is told that there was an error, not which. Exit code 1 if so."""

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SENT = []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", **call) for call in [{"id": "f", "call_id": "c1", "name": "look", "arguments": "{}"}]]
        return ModelResponse(calls if len(SENT) == 1 and calls else [done], Usage(), None)


@function_tool
def look():
    """Looks."""
    raise ValueError("no disk")


set_tracing_disabled(True)
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
print(SENT[-1])
assert "no disk" in SENT[-1][-1]["output"], SENT[-1][-1]["output"]
