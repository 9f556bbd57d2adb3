"""An agent on the official `google-genai` package."""

import re
import sys
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent import Call, Refused, Response, serve_agent
from google import genai
from wire import ANY_ARGUMENTS

ROLES = {"human": "user", "ai": "model"}


class Generate:
    def __init__(self, endpoint, names):
        self.client = genai.Client(api_key=endpoint.api_key, http_options={"base_url": endpoint.base_url})
        self.model, self.stream = endpoint.model, endpoint.stream
        self.config = {"automatic_function_calling": {"disable": True}}
        if endpoint.reasoning:
            self.config["thinking_config"] = {"include_thoughts": True}
        # The API takes no name that begins in another way.
        functions = [{"name": name, "parameters_json_schema": ANY_ARGUMENTS} for name in names if re.match("[a-zA-Z_]", name)]
        if functions:
            self.config["tools"] = [{"function_declarations": functions}]
        # The names of the calls by their ids, and ids for calls that come without: the API needs none.
        self.names, self.own, self.next = {}, set(), count(1)

    def items(self, message):
        calls = [{"id": call["id"], "name": call["name"], "args": call.get("args") or {}} for call in message.get("tool_calls") or []]
        self.names |= {call["id"]: call["name"] for call in calls}
        parts = [{"text": message["content"]}] if message["content"].strip() else []
        parts += [{"function_call": call} for call in calls]
        return [{"role": ROLES.get(message["type"], "system"), "parts": parts}] if parts else []

    def answers(self, pairs):
        parts = [{"name": self.names.get(id, ""), "response": {"result": text}, **({} if id in self.own else {"id": id})} for id, text in pairs]
        return [{"role": "user", "parts": [{"function_response": part} for part in parts]}]

    def ask(self, items):
        system = [part for item in items if item["role"] == "system" for part in item["parts"]]
        config = {**self.config, **({"system_instruction": {"parts": system}} if system else {})}
        options = {"model": self.model, "contents": [item for item in items if item["role"] != "system"], "config": config}
        if self.stream:
            pieces = list(self.client.models.generate_content_stream(**options))
        else:
            pieces = [self.client.models.generate_content(**options)]
        candidates = [piece.candidates[0] for piece in pieces if piece.candidates]
        reasons = [candidate.finish_reason for candidate in candidates if candidate.finish_reason]
        if not reasons:
            raise Refused("the stream ended in the middle")
        parts = [part for candidate in candidates if candidate.content for part in candidate.content.parts or []]
        calls = [self.call(part.function_call) for part in parts if part.function_call]
        text = "".join(part.text for part in parts if part.text and not part.thought)
        # A piece of a stream may be an empty text; the API takes none back.
        kept = [part.model_dump(exclude_none=True) for part in parts if part.text != "" or part.thought_signature]
        said = [{"role": "model", "parts": kept}] if kept else []
        return Response(text, calls, said, reasons[-1].name == "MAX_TOKENS")

    def call(self, call):
        id = call.id or f"own-{next(self.next)}"
        if not call.id:
            self.own.add(id)
        self.names[id] = call.name
        return Call(id, call.name, call.args or {})


serve_agent(Generate, "gemini", package="google-genai", name="google-genai (Python)", url="https://github.com/googleapis/python-genai")
