"""Haystack's `Agent.run_async` on the list of messages that each run hands back, behind op `session`."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"

from haystack import component
from haystack.components.agents import Agent
from haystack.dataclasses import ChatMessage, ToolCall
from haystack.dataclasses.chat_message import ReasoningContent
from haystack.hooks.compaction import CompactionHook, SlidingWindowCompactor
from haystack.tools import Tool

from adapter import ANY_ARGUMENTS, describe_one
from session import Thread, serve_sessions

FEATURES = ["message", "limit", "compact", "opaque"]


@component
class ScriptedGenerator:
    def __init__(self, session):
        self.session = session

    @component.output_types(replies=list[ChatMessage])
    def run(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        raise NotImplementedError("the agent runs asynchronously")

    @component.output_types(replies=list[ChatMessage])
    async def run_async(self, messages: list[ChatMessage], tools: list[Tool] | None = None):
        turn = self.session.ask(messages)
        if [part["kind"] for part in turn.opaque] not in ([], ["thinking"]) or any(call.signature is not None for call in turn.calls):
            self.session.cannot_tell("a message holds one thinking block, and what else there is only an integration knows")
        reasoning = [ReasoningContent(part["text"], {"signature": part["signature"]}) for part in turn.opaque]
        calls = [ToolCall(call.name, call.args, call.id) for call in turn.calls]
        text = turn.content if turn.content or not calls else None
        return {"replies": [ChatMessage.from_assistant(text, tool_calls=calls, reasoning=reasoning[0] if reasoning else None)]}


class HaystackThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        self.messages = []

    async def play(self, run):
        budget = run.compact or {}
        if "keepMessages" in budget:
            return self.session.cannot_tell("compaction keeps a number of tokens, not of messages")
        hook = CompactionHook(compactor=SlidingWindowCompactor(), context_window=budget.get("tokens"), compact_at=0.99, compact_to=0.98) if budget else None
        tools = [tool(self.session, name) for name in self.session.main.tools]
        agent = Agent(chat_generator=ScriptedGenerator(self.session), tools=tools, max_agent_steps=run.rounds + 1, hooks={"before_llm": [hook]} if hook else None)
        system = [ChatMessage.from_system(self.session.main.system)] if self.session.main.system is not None and not self.messages else []
        result = await agent.run_async(messages=[*system, *self.messages, ChatMessage.from_user(run.message)])
        self.messages = result["messages"]


def tool(session, name):
    async def call(**args):
        return await session.call(name, args)

    return Tool(name=name, description="A scripted tool.", parameters=ANY_ARGUMENTS, async_function=call)


def describe(messages):
    return [described for message in messages for described in with_reasoning(message)]


def with_reasoning(message):
    described = describe_one(message)
    for part in message.reasonings:
        described[0]["opaque"] = [{"kind": "thinking", "text": part.reasoning_text, "signature": part.extra["signature"]}]
    return described


if __name__ == "__main__":
    serve_sessions(HaystackThread, describe, features=FEATURES, package="haystack-ai", name="Haystack", url="https://github.com/deepset-ai/haystack")
