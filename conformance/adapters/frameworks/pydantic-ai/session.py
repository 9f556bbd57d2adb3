"""pydantic-ai's `Agent.run` on a `Conversation` of a `ConversationStore` behind op `session`; approvals are its deferred tools."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from pydantic_ai import Agent, BinaryContent, CancellationToken, Conversation, DeferredToolRequests, DeferredToolResults, Tool, ToolApproved, ToolDenied
from pydantic_ai import RunCancelled, RunContext, UsageLimits, UserError, capture_run_messages
from pydantic_ai.conversation_store import InMemoryConversationStore
from pydantic_ai.messages import ModelResponse, TextPart, ThinkingPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile

from adapter import describe_part, describe_response
from session import Image, Thread, described_call, fingerprint, serve_sessions
from testee import UNLIMITED

FEATURES = ["message", "error", "cancel", "limit", "resume", "approval", "edit", "compact", "opaque", "raw", "image"]
SIGNATURE = "thought_signature"


class PydanticThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        one = session.main
        output = [str, DeferredToolRequests] if any(one.tools.values()) else str
        tools = [tool(session, name, is_gated) for name, is_gated in one.tools.items()]
        # A model that takes system messages anywhere; for other models they are rewritten as texts of the user.
        model = FunctionModel(self.respond, profile=ModelProfile(supports_inline_system_prompts=True))
        self.agent = Agent(model, instructions=one.system, output_type=output, tools=tools)
        self.store = InMemoryConversationStore()

    async def respond(self, messages, info):
        turn = self.session.ask((info.instructions, messages))
        text = [TextPart(turn.content)] if turn.content else []
        return ModelResponse([*map(thinking, turn.opaque), *text, *map(to_call, turn.calls)])

    async def play(self, run):
        if "tokens" in (run.compact or {}):
            return self.session.cannot_tell("the store limits the number of messages, not of tokens")
        conversation = await self.store.load("thread", limit=(run.compact or {}).get("keepMessages")) or Conversation(conversation_id="thread")
        token = CancellationToken()
        run.cancel = token.cancel
        # The usage of a conversation goes on from run to run.
        options = {"usage_limits": UsageLimits(request_limit=conversation.usage.requests + run.rounds + 1), "cancellation_token": token}
        if run.decisions:
            options["deferred_tool_results"] = DeferredToolResults(approvals={id: approval(decision) for id, decision in run.decisions.items()})
        # An exception does not carry the messages, but that of a cancelled run.
        with capture_run_messages() as messages:
            try:
                result = await self.agent.run(run.message, conversation=conversation, **options)
                await self.store.save(result)
            except UserError:
                # A run that it refuses, and that did nothing.
                raise
            except Exception as error:
                messages = error.all_messages() if isinstance(error, RunCancelled) else messages
                await self.store.save(replace(conversation, messages=messages, deferred_tool_requests=None))
                raise
            finally:
                requests = (await self.store.load("thread") or conversation).deferred_tool_requests
                run.pending = [call.tool_call_id for call in requests.approvals] if requests else []


def approval(decision):
    if decision.approve:
        return ToolApproved(override_args=decision.args)
    return ToolDenied(decision.reason) if decision.reason else ToolDenied()


def tool(session, name, is_gated):
    async def call(context: RunContext, **args: Any):
        result = await session.call(name, args, context.tool_call_id)
        if not isinstance(result, Image):
            return result
        image = BinaryContent(data=result.bytes, media_type=result.media_type)
        return [result.text, image] if result.text is not None else image

    # One that is asked for again after arguments that are no object, as often as the model says them.
    return Tool(call, name=name, description="A scripted tool.", takes_ctx=True, requires_approval=is_gated, max_retries=UNLIMITED)


def to_call(call):
    return ToolCallPart(call.name, call.arguments, call.id, provider_details={SIGNATURE: call.signature} if call.signature is not None else None)


def thinking(part):
    """As the models of Anthropic and OpenAI write it."""
    if part["kind"] == "thinking":
        return ThinkingPart(part["text"], signature=part["signature"], provider_name="anthropic")
    if part["kind"] == "redacted":
        return ThinkingPart("", id="redacted_thinking", signature=part["data"], provider_name="anthropic")
    return ThinkingPart("", id=part["id"], signature=part["encrypted"], provider_name="openai")


def describe(request):
    instructions, history = request
    described = [] if instructions is None else [{"type": "system", "content": instructions}]
    for message in history:
        described += [response(message)] if isinstance(message, ModelResponse) else map(part, message.parts)
    return described


def response(message):
    (described,) = describe_response(message)
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    opaque = [opaque_part(part) for part in message.parts if isinstance(part, ThinkingPart)]
    opaque += [{"kind": "signature", "call": call.tool_call_id, "data": call.provider_details[SIGNATURE]} for call in calls if call.provider_details]
    called = {"tool_calls": [described_call(call.tool_call_id, call.tool_name, call.args) for call in calls]} if calls else {}
    return {**described, **called, **({"opaque": opaque} if opaque else {})}


def part(one):
    images = [fingerprint(file.data) for file in one.files] if isinstance(one, ToolReturnPart) else []
    return {**describe_part(one), **({"images": images} if images else {})}


def opaque_part(part):
    if part.provider_name == "openai":
        return {"kind": "reasoning", "id": part.id, "encrypted": part.signature}
    if part.id == "redacted_thinking":
        return {"kind": "redacted", "data": part.signature}
    return {"kind": "thinking", "text": part.content, "signature": part.signature}


if __name__ == "__main__":
    url = "https://github.com/pydantic/pydantic-ai"
    serve_sessions(PydanticThread, describe, features=FEATURES, package="pydantic-ai-slim", name="pydantic-ai", url=url)
