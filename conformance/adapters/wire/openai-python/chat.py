"""An agent on the official `openai` package, Chat Completions."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent import Call, Refused, Response, serve_agent
from openai import OpenAI
from wire import ANY_ARGUMENTS, to_json

ROLES = {"system": "system", "human": "user"}
# One pool of connections for all runs.
CLIENT = OpenAI(api_key="one for each run")


class Chat:
    def __init__(self, endpoint, names):
        self.chat = CLIENT.with_options(base_url=endpoint.base_url, api_key=endpoint.api_key).chat.completions
        self.stream = endpoint.stream
        self.options = {"model": endpoint.model}
        if endpoint.reasoning:
            self.options["reasoning_effort"] = "medium"
        if names:
            self.options["tools"] = [{"type": "function", "function": {"name": name, "parameters": ANY_ARGUMENTS}} for name in names]

    def items(self, message):
        if message["type"] != "ai":
            return [{"role": ROLES[message["type"]], "content": message["content"]}]
        calls = [(call["id"], call["name"], to_json(call.get("args") or {})) for call in message.get("tool_calls") or []]
        return [assistant(message["content"], calls)]

    def answers(self, pairs):
        return [{"role": "tool", "tool_call_id": id, "content": text} for id, text in pairs]

    def ask(self, items):
        if self.stream:
            with self.chat.stream(messages=items, stream_options={"include_usage": True}, **self.options) as stream:
                choice = stream.get_final_completion().choices[0]
        else:
            choice = self.chat.create(messages=items, **self.options).choices[0]
        if choice.finish_reason is None:
            raise Refused("the stream ended in the middle")
        message = choice.message
        text = message.content or message.refusal or ""
        calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
        return Response(text, [Call(*call) for call in calls], [assistant(text, calls)], choice.finish_reason == "length")


def assistant(text, calls):
    made = [{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}} for id, name, arguments in calls]
    return {"role": "assistant", "content": text or (None if made else ""), **({"tool_calls": made} if made else {})}


serve_agent(Chat, "openai-chat", package="openai", name="openai (Python), chat", url="https://github.com/openai/openai-python")
