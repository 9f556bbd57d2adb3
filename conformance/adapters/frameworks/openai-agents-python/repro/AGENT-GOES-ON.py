"""The model uses one id again in its next response, as some servers do. The run ends with an exception. Exit code 1 if so."""

from scripted import Agent, Model, ModelResponse, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText, Runner, SENT, Usage, function_tool, set_tracing_disabled


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", **call) for call in [{"call_id": "c1", "name": "look", "arguments": '{"n": %d}' % len(SENT)}]]
        return ModelResponse(calls if len(SENT) < 3 else [done], Usage(), None)


@function_tool
def look(n: int):
    """Looks."""
    return "r"


set_tracing_disabled(True)
try:
    Runner.run_sync(Agent(name="agent", model=Scripted(), tools=[look]), "Go")
finally:
    assert len(SENT) == 3, "the model was not asked again"
