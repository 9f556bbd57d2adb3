"""pydantic-ai's `Agent.run` behind op `tools`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from pydantic_ai import Agent, Tool, UsageLimitExceeded, UsageLimits, capture_run_messages
from pydantic_ai.messages import ModelRequest, ModelResponse, RetryPromptPart, SystemPromptPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.profiles import ModelProfile

from testee import from_json, serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


def scripted_model(run):
    async def respond(messages, info):
        turn = run.ask(messages, {tool.name for tool in info.function_tools})
        text = [TextPart(turn.content)] if turn.content else []
        return ModelResponse([*text, *(ToolCallPart(call.name, call.arguments, call.id) for call in turn.calls)])

    # A model that takes system messages anywhere; for other models they are rewritten as texts of the user.
    return FunctionModel(respond, profile=ModelProfile(supports_inline_system_prompts=True))


def tool(run, name):
    async def call(context, /, **args):
        return run.result(name, args, context.tool_call_id)

    return Tool.from_schema(call, name, "A scripted tool.", ANY_ARGUMENTS, takes_ctx=True)


async def run(run, model=None, **options):
    agent = Agent(model or scripted_model(run), tools=[tool(run, name) for name in run.tools])
    run.given = to_history(run.messages)
    # Kept in case the run ends with an exception.
    with capture_run_messages() as messages:
        run.final = messages
        try:
            await agent.run(message_history=run.given, usage_limits=UsageLimits(request_limit=run.rounds + 1), **options)
        except UsageLimitExceeded:
            pass


def to_history(messages):
    """Each response is a message; what stands between two responses is one request."""
    names = {call["id"]: call["name"] for message in messages for call in message.get("tool_calls") or []}
    history = []
    for message in messages:
        kind, content = message["type"], message["content"]
        if kind == "ai":
            calls = [ToolCallPart(call["name"], to_json(call.get("args") or {}), call["id"]) for call in message.get("tool_calls") or []]
            history.append(ModelResponse([*([TextPart(content)] if content or not calls else []), *calls]))
            continue
        if kind == "tool":
            part = ToolReturnPart(names.get(message["tool_call_id"], "unknown"), content, message["tool_call_id"])
        else:
            part = (SystemPromptPart if kind == "system" else UserPromptPart)(content)
        if not history or isinstance(history[-1], ModelResponse):
            history.append(ModelRequest([]))
        history[-1].parts.append(part)
    return history


def describe(history):
    # What came of a response that broke off stays in the list, marked as such: nobody says that the model said it.
    whole = [one for one in history if getattr(one, "state", "complete") != "interrupted" or not isinstance(one, ModelResponse)]
    return [message for one in whole for message in (describe_response(one) if isinstance(one, ModelResponse) else map(describe_part, one.parts))]


def describe_response(response):
    described = {"type": "ai", "content": "".join(part.content for part in response.parts if isinstance(part, TextPart))}
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if calls:
        described["tool_calls"] = [
            {"id": call.tool_call_id, "name": call.tool_name, "args": from_json(call.args) if isinstance(call.args, str) else call.args}
            for call in calls
        ]
    return [described]


def describe_part(part):
    if isinstance(part, ToolReturnPart):
        try:
            content = part.model_response_str()
        except ValueError:
            # What the framework cannot write it cannot send either, and ends the run.
            content = to_json(part.content)
        return {"type": "tool", "content": content, "tool_call_id": part.tool_call_id}
    if isinstance(part, RetryPromptPart):
        answer = {"tool_call_id": part.tool_call_id} if part.tool_name is not None else {}
        return {"type": "tool" if answer else "human", "content": part.model_response(), **answer}
    return {"type": "system" if isinstance(part, SystemPromptPart) else "human", "content": part.content}


if __name__ == "__main__":
    serve(run, describe, package="pydantic-ai-slim", name="pydantic-ai", url="https://github.com/pydantic/pydantic-ai")
