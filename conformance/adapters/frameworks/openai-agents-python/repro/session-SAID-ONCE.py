"""A call waits for approval, the user writes something else, and the model answers. Then the old question is approved after all: what was said in
between is not in the request. Exit code 1 if so.

The documentation says that a `RunState` goes on where its run stopped (https://openai.github.io/openai-agents-python/human_in_the_loop/), and that with a session "the resumed turn is appended to
the same stored conversation history"; that the request leaves out what the session has got since then it does not say.
"""

import asyncio

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

SENT, RAN = [], []


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="Never mind then." if len(SENT) == 2 else "Done", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        call = ResponseFunctionToolCall(type="function_call", call_id="call_1", name="delete", arguments="{}")
        return ModelResponse([call] if len(SENT) == 1 else [said], Usage(), None)


@function_tool(needs_approval=True)
def delete():
    """Deletes the files."""
    RAN.append("delete")
    return "deleted"


async def main():
    session, agent = SQLiteSession("1"), Agent(name="agent", model=Scripted(), tools=[delete])
    paused = await Runner.run(agent, "Delete the files", session=session)
    state = paused.to_state()
    await Runner.run(agent, "Stop, keep them", session=session)
    state.approve(state.get_interruptions()[0])
    await Runner.run(agent, state, session=session)


set_tracing_disabled(True)
asyncio.run(main())
print(*SENT[-1], sep="\n")
assert "keep them" in str(SENT[-1]), "what the user said is not in the request"
