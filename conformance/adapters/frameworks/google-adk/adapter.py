"""Google ADK's `Runner.run_async` behind op `tools`."""

import sys
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool
from google.genai.types import Content, FunctionCall, FunctionDeclaration, FunctionResponse, Part

from testee import serve, to_json


class ScriptedModel(BaseLlm):
    run: object

    async def generate_content_async(self, llm_request, stream=False):
        turn = self.run.ask(llm_request)
        self.run.system = llm_request.config.system_instruction
        yield LlmResponse(content=model_content(turn.content, map(vars, turn.calls)))


class ScriptedTool(BaseTool):
    def __init__(self, run, name):
        super().__init__(name=name, description="A scripted tool.")
        self.run = run

    def _get_declaration(self):
        return FunctionDeclaration(name=self.name, parameters_json_schema={"type": "object", "additionalProperties": True})

    async def run_async(self, *, args, tool_context):
        result = self.run.result(self.name, args, tool_context.function_call_id)
        if isinstance(result, dict) and list(result) == ["result"]:
            self.run.cannot_tell("the framework writes any other result as an object of this form, too")
        return result


async def run(run, model=None, **config):
    if not run.messages or run.messages[-1]["type"] != "human":
        return run.cannot_tell("a run begins with a message of the user")
    system = "\n\n".join(message["content"] for message in run.messages if message["type"] == "system")
    # A function, since a text would be a template.
    options = {"instruction": lambda context: system, "tools": [ScriptedTool(run, name) for name in run.tools]}
    runner = InMemoryRunner(LlmAgent(name="agent", model=model or ScriptedModel(model="scripted", run=run), **options))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="user")
    names = {call["id"]: call["name"] for message in run.messages for call in message.get("tool_calls") or []}
    *history, prompt = (to_content(message, names) for message in run.messages if message["type"] != "system")
    for content in history:
        is_user = content.role == "user" and content.parts[0].function_response is None
        await runner.session_service.append_event(session, Event(author="user" if is_user else "agent", content=content))
    options = {"new_message": prompt, "run_config": RunConfig(max_llm_calls=run.rounds + 1, **config)}
    try:
        with suppress(LlmCallsLimitExceededError):
            [_ async for _ in runner.run_async(user_id="user", session_id=session.id, **options)]
    finally:
        session = await runner.session_service.get_session(app_name=runner.app_name, user_id="user", session_id=session.id)
        run.final = (getattr(run, "system", system), [event.content for event in session.events if event.content])


def model_content(text, calls):
    parts = [Part(function_call=FunctionCall(id=call["id"], name=call["name"], args=call.get("args") or {})) for call in calls]
    return Content(role="model", parts=[Part(text=text), *parts] if text or not parts else parts)


def to_content(message, names):
    if message["type"] == "ai":
        return model_content(message["content"], message.get("tool_calls") or [])
    if message["type"] == "human":
        return Content(role="user", parts=[Part(text=message["content"])])
    call_id, response = message["tool_call_id"], {"result": message["content"]}
    return Content(role="user", parts=[Part(function_response=FunctionResponse(id=call_id, name=names.get(call_id, "unknown"), response=response))])


def describe(request):
    system, contents = request if isinstance(request, tuple) else (request.config.system_instruction, request.contents)
    described = [{"type": "system", "content": system}] if system else []
    for content, parts in ((content, content.parts or []) for content in contents):
        answers = [part.function_response for part in parts if part.function_response]
        described += [{"type": "tool", "content": text(answer.response), "tool_call_id": answer.id} for answer in answers]
        if len(answers) < len(parts) or not parts:
            calls = [part.function_call for part in parts if part.function_call]
            made = {"tool_calls": [{"id": call.id, "name": call.name, "args": call.args or {}} for call in calls]} if calls else {}
            described.append({"type": "ai" if content.role == "model" else "human", "content": "".join(part.text or "" for part in parts), **made})
    return described


def text(response):
    value = response["result"] if response and list(response) == ["result"] else response
    return value if isinstance(value, str) else to_json(value)


if __name__ == "__main__":
    serve(run, describe, package="google-adk", name="Google ADK (Python)", url="https://github.com/google/adk-python")
