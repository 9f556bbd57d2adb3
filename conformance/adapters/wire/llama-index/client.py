"""LlamaIndex's `FunctionAgent` on its provider packages, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses
from wire import adapter_of, serve_over_wire

llama_index = adapter_of("llama-index")


def model(endpoint):
    if endpoint.api == "anthropic":
        return Anthropic(model=endpoint.model, base_url=endpoint.base_url, api_key=endpoint.api_key)
    kind = OpenAI if endpoint.api == "openai-chat" else OpenAIResponses
    return kind(model=endpoint.model, api_base=endpoint.base_url, api_key=endpoint.api_key)


async def run(run):
    await llama_index.run(run, model(run.endpoint), run.endpoint.stream)


APIS = ["openai-chat", "openai-responses", "anthropic"]
about = {"package": "llama-index-core", "name": "LlamaIndex", "url": "https://github.com/run-llama/llama_index"}
serve_over_wire(run, llama_index.describe, apis=APIS, **about)
