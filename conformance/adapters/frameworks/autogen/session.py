"""AutoGen's `AssistantAgent`, which keeps its thread in its model context, behind op `session`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from autogen_agentchat.agents import AssistantAgent
from autogen_core import CancellationToken, FunctionCall
from autogen_core.model_context import BufferedChatCompletionContext, UnboundedChatCompletionContext
from autogen_core.models import CreateResult, RequestUsage
from autogen_core.tools import BaseTool
from pydantic import BaseModel

import adapter
from adapter import Arguments, describe_one
from session import Thread, described_call, serve_sessions

FEATURES = ["message", "error", "cancel", "limit", "resume", "compact", "raw"]


class ScriptedTool(BaseTool):
    def __init__(self, session, name):
        super().__init__(Arguments, BaseModel, name, "A scripted tool.")
        self.session = session

    run = None

    async def run_json(self, args, cancellation_token, call_id=None):
        # As `BaseTool.run_json` does.
        Arguments.model_validate(args)
        return await self.session.call(self.name, args, call_id)


class ScriptedClient(adapter.ScriptedClient):
    async def create(self, messages, **options):
        turn = self.run.ask(messages)
        calls = [FunctionCall(id=call.id, name=call.name, arguments=call.arguments) for call in turn.calls]
        content = {"content": calls, "thought": turn.content or None} if calls else {"content": turn.content}
        return CreateResult(finish_reason="function_calls" if calls else "stop", usage=RequestUsage(0, 0), cached=False, **content)


class AutogenThread(Thread):
    def __init__(self, session):
        super().__init__(session)
        self.state = None

    def agent(self, limit, buffer):
        one, context = self.session.main, BufferedChatCompletionContext(buffer) if buffer else UnboundedChatCompletionContext()
        tools = [ScriptedTool(self.session, name) for name in one.tools]
        options = {"model_context": context, "system_message": one.system, "max_tool_iterations": limit}
        return AssistantAgent(one.name, ScriptedClient(self.session), tools=tools, **options)

    async def play(self, run):
        if "tokens" in (run.compact or {}):
            self.session.cannot_tell("the limit of tokens is counted by the model client")
        # The token ends the tools that work, and the agent then waits for them for ever: its task is cancelled, too.
        token, stop = CancellationToken(), run.cancel
        run.cancel = lambda: (token.cancel(), stop())
        # Limit and context belong to the agent; its state is loaded into the next one, as the documentation does.
        agent = self.agent(run.rounds + 1, (run.compact or {}).get("keepMessages"))
        if self.state:
            await agent.load_state(self.state)
        try:
            await agent.run(task=run.message, cancellation_token=token)
        finally:
            self.state = await agent.save_state()


def describe(messages):
    return [part for message in messages for part in described(message)]


def described(message):
    """The results of a round are one message of the framework and one message each here."""
    parts = describe_one(message)
    if parts and "tool_calls" in parts[0]:
        parts[0]["tool_calls"] = [described_call(call.id, call.name, call.arguments) for call in message.content]
    return parts


if __name__ == "__main__":
    options = {"features": FEATURES, "package": "autogen-agentchat", "name": "AutoGen", "url": "https://github.com/microsoft/autogen"}
    serve_sessions(AutogenThread, describe, **options)
