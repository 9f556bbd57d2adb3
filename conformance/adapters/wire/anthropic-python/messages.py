"""An agent on the official `anthropic` package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent import Call, Refused, Response, serve_agent
from anthropic import Anthropic
from wire import ANY_ARGUMENTS

# One pool of connections for all runs.
CLIENT = Anthropic(api_key="one for each run")


class Messages:
    def __init__(self, endpoint, names):
        self.messages = CLIENT.with_options(base_url=endpoint.base_url, api_key=endpoint.api_key).messages
        self.stream = endpoint.stream
        self.options = {"model": endpoint.model, "max_tokens": 8192}
        if endpoint.reasoning:
            self.options["thinking"] = {"type": "enabled", "budget_tokens": 2048}
        if names:
            self.options["tools"] = [{"name": name, "input_schema": ANY_ARGUMENTS} for name in names]

    def items(self, message):
        calls = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call.get("args") or {}} for call in message.get("tool_calls") or []]
        return said({"human": "user", "ai": "assistant"}.get(message["type"], "system"), [{"type": "text", "text": message["content"]}, *calls])

    def answers(self, pairs):
        return said("user", [{"type": "tool_result", "tool_use_id": id, "content": text} for id, text in pairs])

    def ask(self, items):
        system = [block for item in items if item["role"] == "system" for block in item["content"]]
        options = {**self.options, **({"system": system} if system else {}), "messages": [item for item in items if item["role"] != "system"]}
        if self.stream:
            with self.messages.stream(**options) as stream:
                message = stream.get_final_message()
        else:
            message = self.messages.create(**options)
        if message.stop_reason is None:
            raise Refused("the stream ended in the middle")
        calls = [Call(block.id, block.name, block.input) for block in message.content if block.type == "tool_use"]
        text = "".join(block.text for block in message.content if block.type == "text")
        return Response(text, calls, said("assistant", [block.to_dict() for block in message.content]), message.stop_reason == "max_tokens")


def said(role, blocks):
    """A message, if anything is said in it: the API takes no empty text."""
    blocks = [block for block in blocks if block["type"] != "text" or block["text"].strip()]
    return [{"role": role, "content": blocks}] if blocks else []


serve_agent(Messages, "anthropic", package="anthropic", name="anthropic (Python)", url="https://github.com/anthropics/anthropic-sdk-python")
