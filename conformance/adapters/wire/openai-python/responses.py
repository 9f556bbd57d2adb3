"""An agent on the official `openai` package, Responses."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent import Call, Refused, Response, serve_agent
from openai import OpenAI
from wire import ANY_ARGUMENTS, to_json

ROLES = {"system": "system", "human": "user", "ai": "assistant"}
# One pool of connections for all runs.
CLIENT = OpenAI(api_key="one for each run")


class Responses:
    def __init__(self, endpoint, names):
        self.responses = CLIENT.with_options(base_url=endpoint.base_url, api_key=endpoint.api_key).responses
        self.stream = endpoint.stream
        # Nothing is stored: what the model thought comes back as it cannot be read.
        self.options = {"model": endpoint.model, "store": False}
        if endpoint.reasoning:
            self.options |= {"reasoning": {"effort": "medium"}, "include": ["reasoning.encrypted_content"]}
        if names:
            self.options["tools"] = [{"type": "function", "name": name, "parameters": ANY_ARGUMENTS, "strict": False} for name in names]

    def items(self, message):
        calls = [
            {"type": "function_call", "call_id": call["id"], "name": call["name"], "arguments": to_json(call.get("args") or {})}
            for call in message.get("tool_calls") or []
        ]
        text = [{"role": ROLES[message["type"]], "content": message["content"]}] if message["content"] or not calls else []
        return [*text, *calls]

    def answers(self, pairs):
        return [{"type": "function_call_output", "call_id": id, "output": text} for id, text in pairs]

    def ask(self, items):
        if self.stream:
            with self.responses.stream(input=items, **self.options) as stream:
                response = stream.get_final_response()
        else:
            response = self.responses.create(input=items, **self.options)
        if response.status not in ("completed", "incomplete"):
            raise Refused(f"the response is {response.status}: {response.error and response.error.message}")
        calls = [Call(item.call_id, item.name, item.arguments) for item in response.output if item.type == "function_call"]
        refusals = [part.refusal for item in response.output if item.type == "message" for part in item.content if part.type == "refusal"]
        text = response.output_text + "".join(refusals)
        return Response(text, calls, [item.to_dict() for item in response.output], response.status == "incomplete")


serve_agent(Responses, "openai-responses", package="openai", name="openai (Python), Responses", url="https://github.com/openai/openai-python")
