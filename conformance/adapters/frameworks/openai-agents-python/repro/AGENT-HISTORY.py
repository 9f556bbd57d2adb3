"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SENT = []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", **call) for call in []]
        return ModelResponse(calls if len(SENT) == 1 and calls else [done], Usage(), None)


@function_tool
def look():
    """Looks."""
    return "r"


set_tracing_disabled(True)
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), [{"type": "function_call", "call_id": "h1", "name": "look", "arguments": "{}"}, {"role": "user", "content": "Well?"}])
print(SENT[-1])
assert any(item.get("type") == "function_call_output" for item in SENT[0]), "h1 has no answer"
