"""Microsoft Agent Framework's `Agent` on a `FileHistoryProvider` behind op `session`; approvals are tools with `always_require`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent_framework import Agent, AgentSession, BaseChatClient, CharacterEstimatorTokenizer, ChatMiddlewareLayer, ChatResponse, Content, FileHistoryProvider, FileSessionStore
from agent_framework import FunctionInvocationContext, FunctionInvocationLayer, FunctionTool, Message, TruncationStrategy

from adapter import ANY_ARGUMENTS, text
from session import Image, Thread, described_call, fingerprint, serve_sessions
from testee import UNLIMITED

FEATURES = ["message", "error", "cancel", "kill", "limit", "resume", "approval", "compact", "opaque", "raw", "image"]


class ScriptedClient(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    def __init__(self, session):
        super().__init__(function_invocation_configuration={"max_consecutive_errors_per_request": UNLIMITED})
        self.session = session

    async def _inner_get_response(self, *, messages, stream, options, **others):
        turn = self.session.ask(([options["instructions"]] if options.get("instructions") else [], messages))
        if any(call.signature is not None for call in turn.calls):
            self.session.cannot_tell("the package has no place for the signature of a call")
        said = [Content.from_text(turn.content)] if turn.content or not turn.calls else []
        calls = [Content.from_function_call(call.id, call.name, arguments=call.arguments) for call in turn.calls]
        return ChatResponse(messages=[Message("assistant", [*map(reasoning, turn.opaque), *said, *calls])])


def reasoning(part):
    if part["kind"] == "reasoning":
        return Content.from_text_reasoning(id=part["id"], protected_data=part["encrypted"])
    return Content.from_text_reasoning(text=part.get("text"), protected_data=part.get("signature") or part.get("data"))


class FrameworkThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        self.client = ScriptedClient(session)
        tools = [tool(session, name, is_gated) for name, is_gated in session.main.tools.items()]
        # Both are written when a run is over: the history by its provider, what is known of approvals by the store.
        history = FileHistoryProvider(session.storage / "history")
        self.agent = Agent(client=self.client, instructions=session.main.system, tools=tools, tokenizer=CharacterEstimatorTokenizer(), context_providers=[history])
        self.store = FileSessionStore(session.storage / "sessions")
        self.thread, self.requests = None, []

    async def play(self, run):
        if self.thread is None:
            await self.begin()
        if run.limit == 0:
            self.session.cannot_tell("the framework's limit is at least one round")
        self.client.function_invocation_configuration["max_iterations"] = max(1, run.rounds)
        budget = run.compact or {}
        limit, tokenizer = budget.get("tokens") or budget.get("keepMessages"), self.agent.tokenizer if "tokens" in budget else None
        strategy = TruncationStrategy(max_n=limit, compact_to=limit, tokenizer=tokenizer) if budget else None
        said = run.message
        if run.decisions:
            decided = [request for request in self.requests if request.function_call.call_id in run.decisions]
            said = Message("user", [request.to_function_approval_response(run.decisions[request.function_call.call_id].approve) for request in decided])
        try:
            response = await self.agent.run(said, session=self.thread, compaction_strategy=strategy)
            self.requests += response.user_input_requests
            run.pending = [request.function_call.call_id for request in response.user_input_requests]
        finally:
            await self.store.set("thread", self.thread)

    async def begin(self):
        """The session, and the requests for approval that wait in it."""
        self.thread = await self.store.get("thread") or AgentSession(session_id="thread")
        waiting = self.thread.state.get("tool_approval", {}).get("pending_approval_requests", [])
        self.requests = [request if isinstance(request, Content) else Content.from_dict(request) for request in waiting]


def tool(session, name, is_gated):
    async def call(context: FunctionInvocationContext, **args):
        result = await session.call(name, args)
        if not isinstance(result, Image):
            return result
        image = Content.from_data(result.bytes, result.media_type)
        return [*([Content.from_text(result.text)] if result.text is not None else []), image]

    return FunctionTool(name=name, description="A scripted tool.", func=call, input_model=ANY_ARGUMENTS, approval_mode="always_require" if is_gated else "never_require")


def describe(request):
    """The results of one round are contents of one message there, and a message each here."""
    instructions, messages = request
    described = [{"type": "system", "content": one} for one in instructions]
    for message in messages:
        results = [content for content in message.contents if content.type == "function_result"]
        described += [{"type": "tool", "content": text(result), "tool_call_id": result.call_id, **images(result.items or [])} for result in results]
        if len(results) < len(message.contents) or not message.contents:
            described.append(describe_one(message))
    return described


def describe_one(message):
    calls = [content for content in message.contents if content.type == "function_call"]
    made = {
        "tool_calls": [described_call(call.call_id, call.name, call.arguments) for call in calls],
        "opaque": [opaque_part(content) for content in message.contents if content.type == "text_reasoning"],
        **images(message.contents),
    }
    return {"type": {"user": "human", "assistant": "ai"}.get(message.role, message.role), "content": message.text, **{name: value for name, value in made.items() if value}}


def images(contents):
    found = [fingerprint(content.uri.split(",", 1)[1]) for content in contents if content.type == "data"]
    return {"images": found} if found else {}


def opaque_part(content):
    if content.id is not None:
        return {"kind": "reasoning", "id": content.id, "encrypted": content.protected_data}
    if content.text is None:
        return {"kind": "redacted", "data": content.protected_data}
    return {"kind": "thinking", "text": content.text, "signature": content.protected_data}


if __name__ == "__main__":
    options = {"features": FEATURES, "saves": "run", "package": "agent-framework-core", "name": "Microsoft Agent Framework", "url": "https://github.com/microsoft/agent-framework"}
    serve_sessions(FrameworkThread, describe, **options)
