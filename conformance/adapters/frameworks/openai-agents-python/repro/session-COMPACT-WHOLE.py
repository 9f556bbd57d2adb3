"""A session that gives back its last four items cuts a response of two calls in the middle: one call and its answer are gone, the other stays. Exit code 1 if so.

The documentation says that `SessionSettings(limit=N)` retrieves the most recent N items, and nothing about responses (https://openai.github.io/openai-agents-python/sessions/).
"""

import asyncio

from agents import RunConfig, SessionSettings
from scripted import Agent, Model, ModelResponse, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText, Runner, SENT, SQLiteSession, Usage, function_tool, set_tracing_disabled


class Scripted(Model):
    stream_response = None

    async def get_response(self, system_instructions, input, *others, **options):
        SENT.append(input)
        text = ResponseOutputText(type="output_text", text="I look at both." if len(SENT) == 1 else "Done", annotations=[])
        said = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        calls = [ResponseFunctionToolCall(type="function_call", call_id=f"call_{n}", name="look", arguments="{}") for n in (1, 2)]
        return ModelResponse([said, *(calls if len(SENT) == 1 else [])], Usage(), None)


@function_tool
def look():
    """Looks."""
    return "fine"


async def main():
    session, agent = SQLiteSession("1"), Agent(name="agent", model=Scripted(), tools=[look])
    await Runner.run(agent, "Look at both", session=session)
    await Runner.run(agent, "And now?", session=session, run_config=RunConfig(session_settings=SessionSettings(limit=4)))


set_tracing_disabled(True)
asyncio.run(main())
print(*SENT[-1], sep="\n")
calls = [item["call_id"] for item in SENT[-1] if item.get("type") == "function_call"]
assert len(calls) != 1, "half of the response is left"
