"""LangChain's `create_agent` on a checkpointer (`AsyncSqliteSaver`) behind op `session`; hand-overs are those of `langgraph-swarm`."""

import sys
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ModelCallLimitMiddleware, SummarizationMiddleware
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command
from langgraph_swarm import create_handoff_tool, create_swarm

from adapter import ANY_ARGUMENTS, blocks
from session import MAIN, Image, Thread, described_call, fingerprint, serve_sessions
from testee import UNLIMITED

FEATURES = ["message", "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw", "image"]
CONFIG = {"configurable": {"thread_id": "thread"}, "recursion_limit": 5 * UNLIMITED}
# Content blocks of the integrations of Anthropic and OpenAI, and where Google's keeps the signatures of calls.
PARTS = {
    "thinking": ("thinking", {"text": "thinking", "signature": "signature"}),
    "redacted": ("redacted_thinking", {"data": "data"}),
    "reasoning": ("reasoning", {"id": "id", "encrypted": "encrypted_content"}),
}
SIGNATURES = "__gemini_function_call_thought_signatures__"


class ScriptedModel(BaseChatModel):
    session: object
    summarizes: bool = False

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **options):
        message = AIMessage(self.session.summarize(messages)) if self.summarizes else to_message(self.session.ask(messages))
        return ChatResult(generations=[ChatGeneration(message=message)])


class LangGraphThread(Thread):
    @asynccontextmanager
    async def opened(self):
        async with AsyncSqliteSaver.from_conn_string(str(self.session.storage / "checkpoints.sqlite")) as self.saver:
            yield

    def graph(self, run, length=0, compacts=None):
        agents = list(self.session.agents.values())
        if len(agents) == 1:
            return self.agent(agents[0], run, length, compacts, checkpointer=self.saver)
        return create_swarm([self.agent(one, run, length, compacts) for one in agents], default_active_agent=MAIN).compile(checkpointer=self.saver)

    def agent(self, one, run, length, compacts, **options):
        budget, gated = run.compact if one.name == compacts else {}, {name: True for name, is_gated in one.tools.items() if is_gated}
        keep = ("tokens", budget["tokens"]) if "tokens" in budget else ("messages", budget.get("keepMessages", 20))
        # What is on the thread reaches the threshold once: a summary and what is kept do not.
        trigger = None if not budget else keep if "tokens" in budget else ("messages", max(keep[1] + 1, length))
        summarization = SummarizationMiddleware(self.model(summarizes=True), trigger=trigger, keep=keep)
        # All of them in every run, so that the graph is the same whatever is left of it in the store.
        middleware = [*([HumanInTheLoopMiddleware(gated)] if gated else []), ModelCallLimitMiddleware(run_limit=run.rounds + 1), summarization]
        tools = [*(tool(self.session, one, name) for name in one.tools), *(create_handoff_tool(agent_name=other) for other in one.others)]
        return create_agent(self.model(), tools, system_prompt=one.system, middleware=middleware, name=one.name, **options)

    def model(self, summarizes=False):
        return ScriptedModel(session=self.session, summarizes=summarizes)

    async def play(self, run):
        graph = self.graph(run)
        if run.compact:
            # The agent that the run begins with compacts, and none that it hands over to.
            values = (await graph.aget_state(CONFIG)).values
            graph = self.graph(run, len(values.get("messages", [])) + (run.message is not None), values.get("active_agent") or MAIN)
        try:
            if run.decisions:
                # They are matched with the calls by position.
                pending = [id for id in await self.pending(graph) if id in run.decisions] or list(run.decisions)
                await graph.ainvoke(Command(resume={"decisions": [self.decision(id, run.decisions[id]) for id in pending]}), CONFIG)
            else:
                await graph.ainvoke(None if run.message is None else {"messages": [HumanMessage(run.message)]}, CONFIG)
        finally:
            run.pending = await self.pending(graph)

    async def pending(self, graph):
        state = await graph.aget_state(CONFIG, subgraphs=True)
        if not state.interrupts:
            return []
        values = next((task.state.values for task in state.tasks if task.interrupts and task.state), state.values)
        said = next(message for message in reversed(values["messages"]) if message.type == "ai")
        return [call["id"] for call in said.tool_calls if any(one.tools.get(call["name"]) for one in self.session.agents.values())]

    def decision(self, id, decision):
        if not decision.approve:
            return {"type": "reject", **({"message": decision.reason} if decision.reason else {})}
        edited = {"name": self.session.said(id).name, "args": decision.args} if decision.args is not None else None
        return {"type": "edit", "edited_action": edited} if edited else {"type": "approve"}


def tool(session, one, name):
    async def call(runtime: ToolRuntime, **args):
        result = await session.call(name, args, runtime.tool_call_id, one.name)
        if not isinstance(result, Image):
            return result
        text = [{"type": "text", "text": result.text}] if result.text is not None else []
        return [*text, {"type": "image", "base64": result.data, "mime_type": result.media_type}]

    return StructuredTool(name=name, description="A scripted tool.", args_schema=ANY_ARGUMENTS, coroutine=call)


def to_message(turn):
    opaque = [{"type": PARTS[part["kind"]][0], **{PARTS[part["kind"]][1][name]: value for name, value in part.items() if name != "kind"}} for part in turn.opaque]
    content = [*opaque, *([{"type": "text", "text": turn.content}] if turn.content else [])] if opaque else turn.content
    signatures = {call.id: call.signature for call in turn.calls if call.signature is not None}
    calls = [tool_call(name=call.name, args=call.args, id=call.id) for call in turn.calls if call.args is not None]
    invalid = [invalid_tool_call(name=call.name, args=call.arguments, id=call.id) for call in turn.calls if call.args is None]
    return AIMessage(content, tool_calls=calls, invalid_tool_calls=invalid, additional_kwargs={SIGNATURES: signatures} if signatures else {})


def describe(messages):
    return [describe_one(message) for message in messages]


def describe_one(message):
    parts = [{"type": "text", "text": part} if isinstance(part, str) else part for part in ([message.content] if isinstance(message.content, str) else message.content)]
    described = {"type": message.type, "content": blocks([part for part in parts if part["type"] == "text"])}
    if message.type == "ai":
        calls = [described_call(call["id"], call["name"], call["args"]) for call in [*message.tool_calls, *message.invalid_tool_calls]]
        opaque = [{"kind": kind, **{ours: part[theirs] for ours, theirs in names.items()}} for part in parts for kind, (type, names) in PARTS.items() if part["type"] == type]
        opaque += [{"kind": "signature", "call": id, "data": data} for id, data in message.additional_kwargs.get(SIGNATURES, {}).items()]
        described |= {**({"tool_calls": calls} if calls else {}), **({"opaque": opaque} if opaque else {})}
    if message.type == "tool":
        described["tool_call_id"] = message.tool_call_id
    images = [fingerprint(part["base64"]) for part in parts if part["type"] == "image"]
    return {**described, **({"images": images} if images else {})}


if __name__ == "__main__":
    about = {"package": "langchain", "name": "LangChain create_agent (Python)", "url": "https://github.com/langchain-ai/langchain"}
    serve_sessions(LangGraphThread, describe, features=FEATURES, handoff=lambda agent: f"transfer_to_{agent}", **about)
