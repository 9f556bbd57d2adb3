"""Haystack's `Agent.run` on its own generators, over the wire."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from haystack.components.generators.chat import OpenAIChatGenerator, OpenAIResponsesChatGenerator
from haystack.utils import Secret
from haystack_integrations.components.generators.anthropic import AnthropicChatGenerator
from wire import adapter_of, serve_over_wire

haystack = adapter_of("haystack")
os.environ["HAYSTACK_TELEMETRY_ENABLED"] = "False"


def model(endpoint):
    options = {"model": endpoint.model, "api_key": Secret.from_token(endpoint.api_key)}
    if endpoint.stream:
        options["streaming_callback"] = lambda chunk: None
    if endpoint.api == "anthropic":
        # It has no option for the base URL; the SDK below it reads the environment.
        os.environ["ANTHROPIC_BASE_URL"] = endpoint.base_url
        return AnthropicChatGenerator(**options)
    kind = OpenAIChatGenerator if endpoint.api == "openai-chat" else OpenAIResponsesChatGenerator
    return kind(api_base_url=endpoint.base_url, **options)


def run(run):
    haystack.run(run, model(run.endpoint))


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, haystack.describe, apis=APIS, package="haystack-ai", name="Haystack", url="https://github.com/deepset-ai/haystack")
