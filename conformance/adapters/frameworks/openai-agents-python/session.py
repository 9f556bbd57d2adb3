"""The OpenAI Agents SDK on a `SQLiteSession` behind op `session`; what waits for approval is its `RunState`, kept in a file as its documentation does."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agents import Agent, Model, ModelResponse, RunConfig, Runner, RunState, SessionSettings, SQLiteSession, Usage
from agents import ToolOutputImage, ToolOutputText, function_tool, set_tracing_disabled
from agents.tool_context import ToolContext
from openai.types.responses import Response, ResponseCompletedEvent, ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText, ResponseReasoningItem

from responses import describe
from session import MAIN, Image, Thread, described_call, object_of, serve_sessions

FEATURES = ["message", "error", "cancel", "kill", "limit", "approval", "compact", "handoff", "opaque", "raw", "image"]


class ScriptedModel(Model):
    def __init__(self, session):
        self.session = session

    async def get_response(self, system_instructions, input, *others, **options):
        turn = self.session.ask((system_instructions, input))
        return ModelResponse(output=to_output(turn), usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *others, **options):
        response = {"id": "response", "created_at": 0, "model": "scripted", "object": "response", "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
        output = to_output(self.session.ask((system_instructions, input)))
        yield ResponseCompletedEvent(type="response.completed", sequence_number=0, response=Response(output=output, **response))


class AgentsThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        self.agents = {name: self.agent(one) for name, one in session.agents.items()}
        for name, one in session.agents.items():
            self.agents[name].handoffs = [self.agents[other] for other in one.others]
        # Behind a hand-over the agent that ran last is "often the best" for the next run.
        self.last = self.agents[MAIN]
        self.store = SQLiteSession("thread", session.storage / "session.sqlite")
        self.paused = session.storage / "state.json"

    def agent(self, one):
        tools = [tool(self.session, one, name) for name in one.tools]
        return Agent(name=one.name, instructions=one.system, model=self.model(), tools=tools)

    def model(self):
        return ScriptedModel(self.session)

    async def play(self, run):
        said = run.message
        if run.decisions:
            said = await self.decided(run.decisions)
        options = {"session": self.store, "max_turns": run.rounds + 1}
        if run.compact:
            if "tokens" in run.compact:
                self.session.cannot_tell("the session limits the number of items, not of tokens")
            options["run_config"] = RunConfig(session_settings=SessionSettings(limit=run.compact.get("keepMessages")))
        if run.cut.get("how") == "cancel":
            result = Runner.run_streamed(self.last, said, **options)
            run.cancel = result.cancel
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(self.last, said, **options)
        self.last = result.last_agent
        run.pending = [item.raw_item.call_id for item in result.interruptions]
        if result.interruptions:
            self.paused.write_text(result.to_state().to_string())

    async def decided(self, decisions):
        state = await RunState.from_string(self.agents[MAIN], self.paused.read_text())
        for item in state.get_interruptions():
            decision = decisions.get(item.raw_item.call_id)
            if decision and decision.approve:
                state.approve(item)
            elif decision:
                state.reject(item, rejection_message=decision.reason)
        return state


def tool(session, one, name):
    async def call(context: ToolContext):
        result = await session.call(name, object_of(context.tool_arguments), context.tool_call_id, one.name)
        if not isinstance(result, Image):
            return result
        image = ToolOutputImage(image_url=f"data:{result.media_type};base64,{result.data}")
        return [*([ToolOutputText(text=result.text)] if result.text is not None else []), image]

    call.__name__ = name
    return function_tool(call, strict_mode=False, needs_approval=one.tools[name])


def to_output(turn):
    """Items of the Responses API; what other providers think is written as the SDK's own converter does."""
    blocks = [block(part) for part in turn.opaque if part["kind"] != "reasoning"]
    items = [ResponseReasoningItem(type="reasoning", id="__fake_id__", summary=[], provider_data={"thinking_blocks": blocks})] if blocks else []
    items += [ResponseReasoningItem(type="reasoning", id=part["id"], summary=[], encrypted_content=part["encrypted"]) for part in turn.opaque if part["kind"] == "reasoning"]
    if turn.content or not turn.calls:
        text = ResponseOutputText(type="output_text", text=turn.content, annotations=[])
        items.append(ResponseOutputMessage(id="msg", type="message", role="assistant", status="completed", content=[text]))
    for n, call in enumerate(turn.calls):
        signature = {"provider_data": {"thought_signature": call.signature}} if call.signature is not None else {}
        items.append(ResponseFunctionToolCall(type="function_call", id=f"fc_{n}", call_id=call.id, name=call.name, arguments=call.arguments, **signature))
    return items


def block(part):
    if part["kind"] == "redacted":
        return {"type": "redacted_thinking", "data": part["data"]}
    return {"type": "thinking", "thinking": part["text"], "signature": part["signature"]}


def describe_request(request):
    system, items = request
    return [*([{"type": "system", "content": system}] if system is not None else []), *describe(items, described_call)]


set_tracing_disabled(True)
if __name__ == "__main__":
    url = "https://github.com/openai/openai-agents-python"
    options = {"features": FEATURES, "saves": "run", "handoff": lambda agent: f"transfer_to_{agent}", "package": "openai-agents", "name": "OpenAI Agents SDK (Python)", "url": url}
    serve_sessions(AgentsThread, describe_request, **options)
