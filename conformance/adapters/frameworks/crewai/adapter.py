"""CrewAI's `Agent.kickoff` behind op `tools`."""

import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false", "CREWAI_STORAGE_DIR": tempfile.mkdtemp()}

from crewai import Agent, BaseLLM
from crewai.tools import BaseTool
from pydantic import BaseModel

from testee import from_json, serve, to_json


class Arguments(BaseModel, extra="allow"):
    pass


class ScriptedLLM(BaseLLM):
    run: object = None

    def call(self, messages, tools=None, *others, **options):
        # At `max_iter` it is asked for a text, and no tool is declared at all.
        turn = self.run.ask(messages, {tool["function"]["name"] for tool in tools} if tools else None)
        if turn.calls and turn.content:
            self.run.cannot_tell("a response is a text or calls")
        return [function_call(call.id, call.name, call.arguments) for call in turn.calls] or turn.content

    def supports_function_calling(self):
        return True

    def get_context_window_size(self):
        # So large that no conversation is too long for the model.
        return 10**9


class ScriptedTool(BaseTool):
    args_schema: type[BaseModel] = Arguments
    run_of: object = None

    def _run(self, **args):
        return self.run_of.result(self.name, args)


def run(run, model=None):
    if run.limit == 0:
        run.cannot_tell("the framework's limit is at least one round")
    tools = [ScriptedTool(name=name, description="A scripted tool.", run_of=run) for name in run.tools]
    agent = Agent(role="agent", goal="answer", backstory="none", llm=model or ScriptedLLM(model="scripted", run=run), tools=tools, verbose=False, max_iter=max(1, run.rounds))
    run.given = [to_crewai(message) for message in run.messages]
    run.final = agent.kickoff(run.given).messages


def function_call(id, name, arguments):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def to_crewai(message):
    kind, content = message["type"], message["content"]
    if kind == "tool":
        return {"role": "tool", "content": content, "tool_call_id": message["tool_call_id"]}
    calls = [function_call(call["id"], call["name"], to_json(call.get("args") or {})) for call in message.get("tool_calls") or []]
    role = {"human": "user", "ai": "assistant"}.get(kind, kind)
    return {"role": role, "content": content, **({"tool_calls": calls} if calls else {})}


def describe(messages):
    return [describe_one(message) for message in messages]


def describe_one(message):
    kind = {"user": "human", "assistant": "ai"}.get(message["role"], message["role"])
    described = {"type": kind, "content": message.get("content")}
    if message.get("tool_calls"):
        described["tool_calls"] = [
            {"id": call["id"], "name": call["function"]["name"], "args": from_json(call["function"]["arguments"])}
            for call in message["tool_calls"]
        ]
    if kind == "tool":
        described["tool_call_id"] = message.get("tool_call_id")
    return described


if __name__ == "__main__":
    serve(run, describe, package="crewai", name="CrewAI", url="https://github.com/crewAIInc/crewAI")
