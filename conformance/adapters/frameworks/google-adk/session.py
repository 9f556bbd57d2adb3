"""Google ADK's `Runner` on a `SqliteSessionService` behind op `session`; approvals are its tool confirmations, hand-overs its transfers to agents."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from google.adk.agents import LlmAgent, RunConfig
from google.adk.apps import App, ResumabilityConfig
from google.adk.apps.app import EventsCompactionConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import BaseTool
from google.genai.types import Content, FunctionCall, FunctionDeclaration, FunctionResponse, GenerateContentResponseUsageMetadata, Part

from adapter import text
from session import MAIN, Image, Thread, described_call, fingerprint, serve_sessions

FEATURES = ["message", "error", "cancel", "kill", "limit", "resume", "approval", "compact", "handoff", "opaque", "image"]
CONFIRMATION, TRANSFER = "adk_request_confirmation", "transfer_to_agent"
FULL = 1_000_000  # tokens of a context that is full until it is compacted
OWNER = {"user_id": "user", "session_id": "thread"}


class ScriptedModel(BaseLlm):
    session: object

    async def generate_content_async(self, llm_request, stream=False):
        # A request without tools and system text is that of the summarizer, which asks the agent's own model.
        is_summary = not llm_request.tools_dict and not llm_request.config.system_instruction
        parts = [Part(text=self.session.summarize(llm_request))] if is_summary else self.parts(self.session.ask(llm_request))
        usage = GenerateContentResponseUsageMetadata(prompt_token_count=1 if self.session.run.compact else FULL)
        yield LlmResponse(content=Content(role="model", parts=parts), usage_metadata=usage)

    def parts(self, turn):
        """Thinking is written as the package's model class for Anthropic does, signatures of calls as the one for Gemini."""
        if any(part["kind"] == "reasoning" for part in turn.opaque):
            self.session.cannot_tell("the framework has no part for the encrypted reasoning of OpenAI")
        parts = [Part(text=part.get("text"), thought=True, thought_signature=(part.get("signature") or part.get("data", "")).encode()) for part in turn.opaque]
        parts += [Part(text=turn.content)] if turn.content or not turn.calls else []
        return parts + [Part(function_call=FunctionCall(id=call.id, name=call.name, args={"agent_name": call.handoff} if call.handoff else call.args), thought_signature=call.signature and call.signature.encode()) for call in turn.calls]


class ScriptedTool(BaseTool):
    def __init__(self, session, one, name):
        super().__init__(name=name, description="A scripted tool.")
        self.session, self.agent, self.is_gated = session, one.name, one.tools[name]

    def _get_declaration(self):
        return FunctionDeclaration(name=self.name, parameters_json_schema={"type": "object", "additionalProperties": True})

    async def run_async(self, *, args, tool_context):
        # An advanced confirmation, since a boolean one has no place for a reason.
        confirmation = tool_context.tool_confirmation
        if self.is_gated and not confirmation:
            tool_context.request_confirmation(hint=f"Approve {self.name}?")
            tool_context.actions.skip_summarization = True
            return {"error": "This tool call requires confirmation, please approve or reject."}
        if self.is_gated and not confirmation.confirmed:
            return {"error": confirmation.payload or "This tool call is rejected."}
        result = await self.session.call(self.name, args, tool_context.function_call_id, self.agent)
        image = Part.from_bytes(data=result.bytes, mime_type=result.media_type) if isinstance(result, Image) else None
        return ({"result": result.text, "image": image} if result.text is not None else image) if image else result


class AdkThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        self.service = SqliteSessionService(str(session.storage / "sessions.db"))

    def runner(self, run):
        others = [self.agent(one) for one in self.session.agents.values() if one.name != MAIN]
        budget = run.compact or {}
        if "tokens" in budget:
            self.session.cannot_tell("the framework keeps a number of events, not of tokens")
        compaction = EventsCompactionConfig(token_threshold=FULL, event_retention_size=budget.get("keepMessages", 0)) if budget else None
        options = {"events_compaction_config": compaction, "resumability_config": ResumabilityConfig(is_resumable=True)}
        return Runner(app=App(name="app", root_agent=self.agent(self.session.main, others), **options), session_service=self.service)

    def agent(self, one, others=()):
        tools = [ScriptedTool(self.session, one, name) for name in one.tools]
        model = ScriptedModel(model="scripted", session=self.session)
        # A function, since a text would be a template.
        return LlmAgent(name=one.name, model=model, instruction=lambda context: one.system or "", tools=tools, sub_agents=list(others))

    async def events(self):
        thread = await self.service.get_session(app_name="app", **OWNER) or await self.service.create_session(app_name="app", **OWNER)
        return thread.events

    async def play(self, run):
        events, stop = await self.events(), asyncio.Event()
        if run.message is not None:
            begins = {"new_message": Content(role="user", parts=[Part(text=run.message)])}
        elif run.resume:
            begins = {"invocation_id": events[-1].invocation_id}
        else:
            asked = {call.args["originalFunctionCall"]["id"]: call.id for event in events for call in event.get_function_calls() if call.name == CONFIRMATION}
            answers = [(asked[id], {"confirmed": decision.approve, "payload": decision.reason}) for id, decision in run.decisions.items() if id in asked]
            # The runner finds the invocation that asked by the ids of the answers.
            begins = {"new_message": Content(role="user", parts=[Part(function_response=FunctionResponse(id=id, name=CONFIRMATION, response=answer)) for id, answer in answers])}
        run.cancel = stop.set
        config = RunConfig(max_llm_calls=run.rounds + 1)
        try:
            [_ async for _ in self.runner(run).run_async(**OWNER, **begins, run_config=config, abort_signal=stop)]
        finally:
            run.pending = pending(await self.events())


def pending(events):
    """The calls that wait: confirmations that were asked for behind the last message of the user, and that nobody has answered."""
    waiting = {}
    for event in events:
        if event.author == "user" and not event.get_function_responses():
            waiting = {}
        waiting |= {call.id: call.args["originalFunctionCall"]["id"] for call in event.get_function_calls() if call.name == CONFIRMATION}
        waiting = {id: call for id, call in waiting.items() if id not in {answer.id for answer in event.get_function_responses()}}
    return list(waiting.values())


def describe(request):
    system = request.config.system_instruction
    described = [{"type": "system", "content": system}] if system else []
    for content, parts in ((content, content.parts or []) for content in request.contents):
        answers = [part.function_response for part in parts if part.function_response]
        described += [{"type": "tool", "content": text(answer.response), "tool_call_id": answer.id, **images(answer)} for answer in answers]
        if len(answers) < len(parts) or not parts:
            calls = [(part.function_call, part.thought_signature) for part in parts if part.function_call]
            opaque = [opaque_part(part) for part in parts if part.thought]
            opaque += [{"kind": "signature", "call": call.id, "data": signature.decode()} for call, signature in calls if signature is not None]
            said = "".join(part.text or "" for part in parts if not part.thought)
            made = {"tool_calls": [described_call(call.id, call.name, call.args or {}) for call, _ in calls], "opaque": opaque}
            described.append({"type": "ai" if content.role == "model" else "human", "content": said, **{name: value for name, value in made.items() if value}})
    return described


def images(answer):
    return {"images": [fingerprint(part.inline_data.data) for part in answer.parts]} if answer.parts else {}


def opaque_part(part):
    signature = (part.thought_signature or b"").decode()
    return {"kind": "thinking", "text": part.text, "signature": signature} if part.text is not None else {"kind": "redacted", "data": signature}


if __name__ == "__main__":
    options = {"features": FEATURES, "handoff": lambda agent: TRANSFER, "package": "google-adk", "name": "Google ADK (Python)", "url": "https://github.com/google/adk-python"}
    serve_sessions(AdkThread, describe, **options)
