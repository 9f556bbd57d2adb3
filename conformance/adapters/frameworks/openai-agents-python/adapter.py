"""The OpenAI Agents SDK's `Runner.run` behind op `tools`."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agents import Agent, Model, ModelResponse, Runner, SQLiteSession, Usage, function_tool, set_tracing_disabled
from agents.exceptions import AgentsException, MaxTurnsExceeded
from agents.tool_context import ToolContext
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from responses import describe, to_items
from testee import serve


class ScriptedModel(Model):
    def __init__(self, run):
        self.run = run

    async def get_response(self, system_instructions, input, *others, **options):
        turn = self.run.ask(input)
        output = [
            ResponseFunctionToolCall(type="function_call", id=f"fc_{n}", call_id=call.id, name=call.name, arguments=call.arguments)
            for n, call in enumerate(turn.calls)
        ]
        if turn.content or not turn.calls:
            text = ResponseOutputText(type="output_text", text=turn.content, annotations=[])
            message = ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=[text])
            output.insert(0, message)
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *others, **options):
        raise NotImplementedError("the adapter does not stream")


def tool(run, name):
    async def call(context: ToolContext):
        return run.result(name, json.loads(context.tool_arguments), context.tool_call_id)

    call.__name__ = name
    return function_tool(call, strict_mode=False)


async def run(run, model=None, start=Runner.run):
    agent = Agent(name="agent", model=model or ScriptedModel(run), tools=[tool(run, name) for name in run.tools])
    run.given = to_items(run.messages)
    if run.messages and run.messages[-1].get("tool_calls"):
        run.cannot_tell("a run that stopped at its calls is continued from its RunState")
    session, input = None, run.given
    if len(run.messages) > 1 and run.messages[-1]["type"] == "human":
        # A session is what the documentation recommends to continue a stored conversation.
        session, (*history, prompt) = SQLiteSession("stored"), run.given
        await session.add_items(history)
        input = [prompt]
    try:
        result = await start(agent, input, session=session, max_turns=run.rounds + 1)
        run.final = result.to_input_list()
    except AgentsException as error:
        if error.run_data:
            run.final = [*error.run_data.input, *(item.to_input_item() for item in error.run_data.new_items)]
        if not isinstance(error, MaxTurnsExceeded):
            raise
    finally:
        if session:
            run.final = await session.get_items()


set_tracing_disabled(True)
if __name__ == "__main__":
    serve(run, describe, package="openai-agents", name="OpenAI Agents SDK (Python)", url="https://github.com/openai/openai-agents-python")
