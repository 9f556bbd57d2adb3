"""Agno's `Agent` on a `SqliteDb` behind op `session`; approvals are tools that require confirmation."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ["AGNO_TELEMETRY"] = "false"

from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.media import Image as AgnoImage
from agno.models.response import ModelResponse
from agno.run.base import RunStatus
from agno.tools.function import Function, ToolResult

import adapter
from adapter import ANY_ARGUMENTS, describe_one, function_call
from session import Image, Thread, described_call, fingerprint, serve_sessions
from testee import UNLIMITED

FEATURES = ["message", "error", "cancel", "kill", "resume", "approval", "compact", "opaque", "raw", "image"]


class RunFailed(Exception):
    """How a run ended that the framework reports as failed."""


class ScriptedModel(adapter.ScriptedModel):
    async def ainvoke(self, messages, assistant_message, **options):
        turn = self.session.ask(messages)
        calls = [function_call(call.id, call.name, call.arguments) | signature(call) for call in turn.calls]
        return ModelResponse(role="assistant", content=turn.content if turn.content or not calls else None, tool_calls=calls, **self.opaque(turn.opaque))

    def opaque(self, parts):
        """As the package's model classes of Anthropic and OpenAI write it: one of a kind."""
        kinds = [part["kind"] for part in parts]
        if len(set(kinds)) < len(kinds):
            self.session.cannot_tell("the framework keeps one thinking block of a response")
        members = {}
        for part in parts:
            if part["kind"] == "thinking":
                members |= {"reasoning_content": part["text"], "provider_data": members.get("provider_data", {}) | {"signature": part["signature"]}}
            elif part["kind"] == "redacted":
                members["redacted_reasoning_content"] = part["data"]
            else:
                item = {"type": "reasoning", "id": part["id"], "summary": [], "encrypted_content": part["encrypted"]}
                members["provider_data"] = members.get("provider_data", {}) | {"reasoning_output": item}
        return members


def signature(call):
    """Where the package's model class of Gemini keeps it."""
    return {"thought_signature": call.signature} if call.signature is not None else {}


class AgnoThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        model = ScriptedModel(id="scripted")
        model.session = session
        one = session.main
        options = {"tools": [tool(session, name, is_gated) for name, is_gated in one.tools.items()], "system_message": one.system, "session_id": "thread"}
        # The whole history, and a checkpoint behind each round of tools, as is recommended for runs that are to be resumed.
        options |= {"db": SqliteDb(db_file=str(session.storage / "agno.db")), "add_history_to_context": True, "num_history_runs": UNLIMITED, "checkpoint": "tool-batch"}
        self.agent = Agent(model=model, telemetry=False, **options)

    async def runs(self):
        thread = await self.agent.aget_session(session_id="thread")
        return thread.runs or [] if thread else []

    async def play(self, run):
        if "tokens" in (run.compact or {}):
            return self.session.cannot_tell("the history is limited to a number of messages, not of tokens")
        limit = (run.compact or {}).get("keepMessages")
        self.agent.num_history_messages, self.agent.num_history_runs = limit, None if limit else UNLIMITED
        past = await self.runs()
        id = f"run-{len(past)}"
        if run.message is not None:
            begun = self.agent.arun(run.message, run_id=id, session_id="thread")
        else:
            # The run that waits, or the last one.
            last = next((one for one in reversed(past) if run.decisions and one.is_paused), past[-1])
            id = last.run_id
            for requirement in last.active_requirements:
                decide(requirement, run.decisions.get(requirement.tool_execution.tool_call_id))
            more = {"requirements": last.requirements} if run.decisions else {}
            begun = self.agent.acontinue_run(run_id=id, session_id="thread", **more)
        run.cancel = lambda: Agent.cancel_run(id)
        output = await begun
        if output.is_paused:
            run.pending = [one.tool_execution.tool_call_id for one in output.active_requirements]
        if output.status == RunStatus.error:
            raise RunFailed(str(output.content))


def decide(requirement, decision):
    if decision and decision.approve:
        requirement.confirm()
    elif decision:
        requirement.reject(decision.reason)


def tool(session, name, is_gated):
    async def call(fc, **args):
        result = await session.call(name, args, fc.call_id)
        if isinstance(result, Image):
            return ToolResult(content=result.text or "An image.", images=[AgnoImage(content=result.bytes, mime_type=result.media_type)])
        return result

    return Function(name=name, description="A scripted tool.", parameters=ANY_ARGUMENTS, entrypoint=call, skip_entrypoint_processing=True, requires_confirmation=is_gated)


def describe(messages):
    return [described(message) for message in messages]


def described(message):
    one, provided = describe_one(message), message.provider_data or {}
    calls = message.tool_calls or []
    opaque = [{"kind": "thinking", "text": message.reasoning_content, "signature": provided["signature"]}] if "signature" in provided else []
    opaque += [{"kind": "redacted", "data": message.redacted_reasoning_content}] if message.redacted_reasoning_content else []
    opaque += [{"kind": "reasoning", "id": item["id"], "encrypted": item["encrypted_content"]} for item in [provided.get("reasoning_output")] if item]
    opaque += [{"kind": "signature", "call": call["id"], "data": call["thought_signature"]} for call in calls if "thought_signature" in call]
    one |= {"tool_calls": [described_call(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in calls]} if calls else {}
    images = [fingerprint(image.content) for image in message.images or []]
    return {**one, "content": one["content"] or "", **({"opaque": opaque} if opaque else {}), **({"images": images} if images else {})}


if __name__ == "__main__":
    serve_sessions(AgnoThread, describe, features=FEATURES, saves="run", package="agno", name="Agno", url="https://github.com/agno-agi/agno")
