"""Strands' `Agent.invoke_async` behind op `tools`."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))
os.environ["OTEL_SDK_DISABLED"] = "true"

from strands import Agent, ToolContext, tool
from strands.agent.conversation_manager import NullConversationManager
from strands.models import Model

from testee import serve, to_json

class ScriptedModel(Model):
    def __init__(self, run):
        self.run = run

    async def stream(self, messages, tool_specs=None, system_prompt=None, **options):
        turn = self.run.ask((system_prompt, messages))
        yield {"messageStart": {"role": "assistant"}}
        blocks = [({}, {"text": turn.content})] if turn.content or not turn.calls else []
        for call in turn.calls:
            blocks.append(({"toolUse": {"toolUseId": call.id, "name": call.name}}, {"toolUse": {"input": call.arguments}}))
        for start, delta in blocks:
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if turn.calls else "end_turn"}}

    get_config = update_config = structured_output = None


def scripted_tool(run, name):
    def call(tool_context: ToolContext):
        use = tool_context.tool_use
        return run.result(name, use["input"], use["toolUseId"])

    return tool(name=name, description="A scripted tool.", context=True)(call)


async def run(run, model=None):
    if len({name.replace("-", "_") for name in run.tools if re.fullmatch(r"[a-zA-Z0-9_-]+", name)}) < len(run.tools):
        run.cannot_tell("the framework takes letters, digits, `-` and `_` in names, and no two that differ in `-` and `_` alone")
    system = [message["content"] for message in run.messages if message["type"] == "system"]
    given = to_strands(run.messages)
    prompt = "\n\n".join(system) if system else None
    # A conversation is continued with what the user says; what was said before are the messages of the agent.
    said = [given.pop()] if run.messages and run.messages[-1]["type"] == "human" else None
    # The default manager keeps the newest forty messages only.
    options = {"callback_handler": None, "conversation_manager": NullConversationManager(), "system_prompt": prompt}
    agent = Agent(model=model or ScriptedModel(run), messages=given, tools=[scripted_tool(run, name) for name in run.tools], **options)
    run.final = (prompt, agent.messages)
    try:
        await agent.invoke_async(said, limits={"turns": run.rounds + 1})
    finally:
        run.given = (prompt, [*given, *(said or [])])


def to_strands(messages):
    """System texts are a parameter; the results of one round are one message of the user."""
    converted = []
    for message in messages:
        kind, content = message["type"], message["content"]
        if kind == "tool":
            result = {"toolResult": {"toolUseId": message["tool_call_id"], "status": "success", "content": [{"text": content}]}}
            if not converted or "toolResult" not in converted[-1]["content"][0]:
                converted.append({"role": "user", "content": []})
            converted[-1]["content"].append(result)
        elif kind != "system":
            calls = [{"toolUseId": call["id"], "name": call["name"], "input": call.get("args") or {}} for call in message.get("tool_calls") or []]
            blocks = [*([{"text": content}] if content or not calls else []), *({"toolUse": call} for call in calls)]
            converted.append({"role": "user" if kind == "human" else "assistant", "content": blocks})
    return converted


def describe(request):
    system, messages = request
    described = [] if system is None else [{"type": "system", "content": system}]
    for message in messages:
        blocks = message["content"]
        results = [block["toolResult"] for block in blocks if "toolResult" in block]
        described += [{"type": "tool", "content": text(result["content"]), "tool_call_id": result["toolUseId"]} for result in results]
        if len(results) < len(blocks) or not blocks:
            uses = [block["toolUse"] for block in blocks if "toolUse" in block]
            calls = {"tool_calls": [{"id": use["toolUseId"], "name": use["name"], "args": use["input"]} for use in uses]} if uses else {}
            others = [block for block in blocks if not block.keys() & {"toolUse", "toolResult"}]
            described.append({"type": "ai" if message["role"] == "assistant" else "human", "content": text(others), **calls})
    return described


def text(blocks):
    return "".join(block["text"] if "text" in block else to_json(block.get("json", block)) for block in blocks)


if __name__ == "__main__":
    serve(run, describe, package="strands-agents", name="Strands Agents", url="https://github.com/strands-agents/harness-sdk")
