"""The model uses an id of the history again. The old call and its answer are gone, and the new answer stands elsewhere. Exit code 1 if so."""

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SENT = []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", **call) for call in [{"call_id": "c1", "name": "look", "arguments": "{}"}]]
        return ModelResponse(calls if len(SENT) == 1 and calls else [done], Usage(), None)


@function_tool
def look():
    """Looks."""
    return "r"


set_tracing_disabled(True)
old = [{"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"}, {"type": "function_call_output", "call_id": "c1", "output": "old"}]
Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), [*old, {"role": "user", "content": "Again"}])
print(SENT[-1])
assert SENT[1][:2] == old, SENT[1]
