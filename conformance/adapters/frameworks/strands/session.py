"""Strands' `Agent` on a `FileSessionManager` behind op `session`; approvals are interrupts of a hook, as its documentation has them."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from adapter import text
from session import Image, Thread, described_call, fingerprint, serve_sessions
from strands import Agent, ToolContext, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager, SummarizingConversationManager
from strands.hooks import BeforeToolCallEvent, HookProvider
from strands.models import Model
from strands.session import FileSessionManager
from testee import UNLIMITED

FEATURES = ["message", "error", "cancel", "kill", "limit", "resume", "approval", "compact", "opaque", "raw", "image"]


class ScriptedModel(Model):
    def __init__(self, session):
        self.session = session

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        if system_prompt != self.session.main.system:
            # The summarizing manager asks the agent's own model, with a prompt of its own.
            events = [({}, [{"text": self.session.summarize((system_prompt, messages))}])]
        else:
            turn = self.session.ask((system_prompt, messages))
            said = [({}, [{"text": turn.content}])] if turn.content or not turn.calls else []
            events = [*map(self.opaque, turn.opaque), *said, *map(use, turn.calls)]
        yield {"messageStart": {"role": "assistant"}}
        for start, deltas in events:
            yield {"contentBlockStart": {"start": start}}
            for delta in deltas:
                yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if any("toolUse" in start for start, _ in events) else "end_turn"}}

    def opaque(self, part):
        if part["kind"] == "reasoning":
            self.session.cannot_tell("the framework has no part for the encrypted reasoning of OpenAI")
        deltas = [{"text": part["text"]}, {"signature": part["signature"]}] if part["kind"] == "thinking" else [{"redactedContent": part.get("data", "").encode()}]
        return {}, [{"reasoningContent": delta} for delta in deltas]

    get_config = update_config = structured_output = None


def use(call):
    signature = {"reasoningSignature": call.signature} if call.signature is not None else {}
    return {"toolUse": {"toolUseId": call.id, "name": call.name, **signature}}, [{"toolUse": {"input": call.arguments}}]


class Approval(HookProvider):
    def __init__(self, tools):
        self.tools = tools

    def register_hooks(self, registry, **options):
        registry.add_callback(BeforeToolCallEvent, self.approve)

    def approve(self, event):
        if self.tools.get(event.tool_use["name"]):
            answer = event.interrupt("approval", reason=event.tool_use["toolUseId"])
            if not answer["approve"]:
                event.cancel_tool = answer["reason"] or "The user denied it."


class StrandsThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        is_summarized = any("summary" in (run.compact or {}) for run in session.runs)
        self.manager = SummarizingConversationManager(0.8) if is_summarized else SlidingWindowConversationManager(UNLIMITED)
        options = {"system_prompt": session.main.system, "callback_handler": None, "conversation_manager": self.manager, "hooks": [Approval(session.main.tools)]}
        tools = [scripted_tool(session, name) for name in session.main.tools]
        self.agent = Agent(model=ScriptedModel(session), tools=tools, session_manager=FileSessionManager("thread", str(session.storage)), **options)
        self.interrupts = self.waiting()

    def waiting(self):
        return {interrupt.reason: interrupt.id for interrupt in self.agent._interrupt_state.interrupts.values() if interrupt.response is None}

    async def play(self, run):
        if run.compact:
            self.compact(run.compact)
        run.cancel = self.agent.cancel
        said = [self.response(id, decision) for id, decision in run.decisions.items()] or run.message
        try:
            await self.agent.invoke_async(said, limits={"turns": run.rounds + 1})
        finally:
            run.pending = [*(waiting := self.waiting())]
            self.interrupts |= waiting

    def response(self, id, decision):
        answer = {"approve": decision.approve, "reason": decision.reason}
        return {"interruptResponse": {"interruptId": self.interrupts.get(id, id), "response": answer}}

    def compact(self, budget):
        if "tokens" in budget:
            return self.session.cannot_tell("the framework compacts to a number of messages, and to a share of the model's window")
        if isinstance(self.manager, SummarizingConversationManager):
            self.manager.preserve_recent_messages = budget["keepMessages"]
            return self.manager.reduce_context(self.agent)
        self.manager.window_size = budget["keepMessages"]
        self.manager.apply_management(self.agent)
        self.manager.window_size = UNLIMITED


def scripted_tool(session, name):
    async def call(tool_context: ToolContext):
        result = await session.call(name, tool_context.tool_use["input"], tool_context.tool_use["toolUseId"])
        if not isinstance(result, Image):
            return result
        image = {"image": {"format": "png", "source": {"bytes": result.bytes}}}
        return {"status": "success", "content": [*([{"text": result.text}] if result.text is not None else []), image]}

    return tool(name=name, description="A scripted tool.", context=True)(call)


def describe(request):
    system, messages = request
    described = [] if system is None else [{"type": "system", "content": system}]
    for message in messages:
        blocks = message["content"]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        described += [{"type": "tool", "tool_call_id": result["toolUseId"], **contents(result["content"])} for result in results]
        if len(results) < len(blocks) or not blocks:
            described.append({"type": "ai" if message["role"] == "assistant" else "human", **contents(blocks)})
    return described


def contents(blocks):
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    signatures = [{"kind": "signature", "call": use["toolUseId"], "data": use["reasoningSignature"]} for use in uses if "reasoningSignature" in use]
    members = {
        "tool_calls": [described_call(use["toolUseId"], use["name"], use["input"]) for use in uses],
        "opaque": [opaque_part(block["reasoningContent"]) for block in blocks if "reasoningContent" in block] + signatures,
        "images": [fingerprint(block["image"]["source"]["bytes"]) for block in blocks if "image" in block],
    }
    others = [block for block in blocks if not block.keys() & {"toolUse", "toolResult", "reasoningContent", "image"}]
    return {"content": text(others), **{name: value for name, value in members.items() if value}}


def opaque_part(content):
    if "redactedContent" in content:
        return {"kind": "redacted", "data": content["redactedContent"].decode()}
    return {"kind": "thinking", "text": content["reasoningText"]["text"], "signature": content["reasoningText"].get("signature")}


if __name__ == "__main__":
    serve_sessions(StrandsThread, describe, features=FEATURES, package="strands-agents", name="Strands Agents", url="https://github.com/strands-agents/harness-sdk")
