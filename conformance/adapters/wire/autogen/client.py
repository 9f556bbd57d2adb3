"""AutoGen's `AssistantAgent.run` on its extension's clients, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from autogen_ext.models.anthropic import AnthropicChatCompletionClient
from autogen_ext.models.openai import OpenAIChatCompletionClient
from wire import adapter_of, serve_over_wire

autogen = adapter_of("autogen")


def model(endpoint):
    kind = AnthropicChatCompletionClient if endpoint.api == "anthropic" else OpenAIChatCompletionClient
    # Newer models than it knows: it asks to be told what they can do.
    return kind(model=endpoint.model, base_url=endpoint.base_url, api_key=endpoint.api_key, model_info=autogen.ABILITIES)


async def run(run):
    await autogen.run(run, model(run.endpoint), model_client_stream=run.endpoint.stream)


about = {"package": "autogen-agentchat", "name": "AutoGen", "url": "https://github.com/microsoft/autogen"}
serve_over_wire(run, autogen.describe, apis=["openai-chat", "anthropic"], **about)
