"""Strands' `Agent.invoke_async` on its own models, over the wire. They always ask for streams."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel
from strands.models.openai_responses import OpenAIResponsesModel
from wire import adapter_of, serve_over_wire

strands = adapter_of("strands")
MODELS = {"openai-chat": OpenAIModel, "openai-responses": OpenAIResponsesModel}


def model(endpoint):
    client = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
    if endpoint.api == "anthropic":
        return AnthropicModel(client_args=client, model_id=endpoint.model, max_tokens=8192)
    return MODELS[endpoint.api](client_args=client, model_id=endpoint.model)


async def run(run):
    await strands.run(run, model(run.endpoint))


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, strands.describe, apis=APIS, package="strands-agents", name="Strands Agents", url="https://github.com/strands-agents/harness-sdk")
