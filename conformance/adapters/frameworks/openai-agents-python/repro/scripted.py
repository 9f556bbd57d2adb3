"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SENT = []
CALLS = []
RAN = []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Done", annotations=[])
        done = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", **call) for call in CALLS]
        return ModelResponse(calls if len(SENT) == 1 and calls else [done], Usage(), None)


class Talking(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Never mind then." if len(SENT) == 2 else "Done", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        call = ResponseFunctionToolCall(type="function_call", call_id="call_1", name="delete", arguments="{}")
        return ModelResponse([call] if len(SENT) == 1 else [said], Usage(), None)


@function_tool
def look():
    """Looks."""
    return "r"


@function_tool(needs_approval=True)
def delete():
    """Deletes the files."""
    RAN.append("delete")
    return "deleted"
