"""LangChain's `create_agent` on its provider packages, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from wire import adapter_of, serve_over_wire

langchain = adapter_of("langchain-python")


def model(endpoint):
    options = {"model": endpoint.model, "api_key": endpoint.api_key, "base_url": endpoint.base_url, "streaming": endpoint.stream}
    if endpoint.api == "anthropic":
        return ChatAnthropic(**options)
    return ChatOpenAI(use_responses_api=endpoint.api == "openai-responses", **options)


async def run(run):
    await langchain.run(run, model(run.endpoint))


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, langchain.describe, apis=APIS, package="langchain", name="LangChain (Python)", url="https://github.com/langchain-ai/langchain")
