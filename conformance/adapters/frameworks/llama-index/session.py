"""LlamaIndex's `FunctionAgent` on a `Memory` in an SQLite file behind op `session`; hand-overs are those of an `AgentWorkflow`."""

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ImageBlock, TextBlock, ThinkingBlock, ToolCallBlock
from llama_index.core.memory import Memory
from llama_index.core.tools import FunctionTool

import adapter
from adapter import Arguments
from session import MAIN, Image, Thread, described_call, fingerprint, serve_sessions

FEATURES = ["message", "error", "cancel", "kill", "limit", "compact", "handoff", "opaque", "image"]
UNLIMITED = 10**9


class ScriptedLLM(adapter.ScriptedLLM):
    async def achat_with_tools(self, tools, user_msg=None, chat_history=None, **options):
        session = self.run
        turn = session.ask(chat_history)
        if any(part["kind"] != "thinking" for part in turn.opaque) or any(call.signature is not None for call in turn.calls):
            session.cannot_tell("the package has no block for redacted thinking, encrypted reasoning and signatures of calls")
        blocks = [ThinkingBlock(content=part["text"], additional_information={"signature": part["signature"]}) for part in turn.opaque]
        blocks += [TextBlock(text=turn.content)] if turn.content or not turn.calls else []
        blocks += [ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=arguments(call)) for call in turn.calls]
        return ChatResponse(message=ChatMessage(role="assistant", blocks=blocks))


def arguments(call):
    return {"to_agent": call.handoff, "reason": "It is theirs."} if call.handoff else call.args


class LlamaIndexThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        database = f"sqlite+aiosqlite:///{session.storage / 'memory.db'}"
        # The default tokenizer is downloaded: four characters are a token here.
        self.memory = Memory.from_defaults("thread", async_database_uri=database, token_limit=UNLIMITED, tokenizer_fn=lambda text: text[::4])
        agents = [self.agent(one) for one in session.agents.values()]
        self.workflow = agents[0] if len(agents) == 1 else AgentWorkflow(agents=agents, root_agent=MAIN, timeout=None)

    def agent(self, one):
        options = {"system_prompt": one.system, "can_handoff_to": one.others or None, "streaming": False, "timeout": None}
        tools = [tool(self.session, one.name, name) for name in one.tools]
        return FunctionAgent(name=one.name, description="A scripted agent.", llm=ScriptedLLM(run=self.session), tools=tools, **options)

    async def play(self, run):
        budget = run.compact or {}
        if "keepMessages" in budget:
            return self.session.cannot_tell("the memory is limited to a number of tokens, not of messages")
        # The whole limit is the history's.
        self.memory.token_limit, self.memory.chat_history_token_ratio = budget.get("tokens", UNLIMITED), 1.0
        self.memory.token_flush_size = 1 if budget else UNLIMITED
        handler = self.workflow.run(user_msg=run.message, memory=self.memory, max_iterations=run.rounds + 1)
        run.cancel = lambda: asyncio.ensure_future(handler.cancel_run())
        await handler


def tool(session, agent, name):
    async def call(**args):
        result = await session.call(name, args, agent=agent)
        if not isinstance(result, Image):
            return result
        image = ImageBlock(image=result.bytes, image_mimetype=result.media_type)
        return [*([TextBlock(text=result.text)] if result.text is not None else []), image]

    return FunctionTool.from_defaults(async_fn=call, name=name, description="A scripted tool.", fn_schema=Arguments)


def describe(messages):
    return [describe_one(message) for message in messages]


def describe_one(message):
    kind = {"user": "human", "assistant": "ai"}.get(message.role.value, message.role.value)
    content = "".join(block.text for block in message.blocks if isinstance(block, TextBlock))
    made = {
        "tool_calls": [described_call(block.tool_call_id, block.tool_name, block.tool_kwargs) for block in message.blocks if isinstance(block, ToolCallBlock)],
        "opaque": [opaque_part(block) for block in message.blocks if isinstance(block, ThinkingBlock)],
        "images": [fingerprint(block.resolve_image().read()) for block in message.blocks if isinstance(block, ImageBlock)],
    }
    answers = {"tool_call_id": message.additional_kwargs["tool_call_id"]} if kind == "tool" else {}
    return {"type": kind, "content": content, **answers, **{name: value for name, value in made.items() if value}}


def opaque_part(block):
    return {"kind": "thinking", "text": block.content, "signature": block.additional_information.get("signature")}


if __name__ == "__main__":
    options = {"features": FEATURES, "saves": "run", "handoff": lambda agent: "handoff", "package": "llama-index-core", "name": "LlamaIndex"}
    serve_sessions(LlamaIndexThread, describe, url="https://github.com/run-llama/llama_index", **options)
