"""The OpenAI Agents SDK's `Runner` on its own models, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agents import OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner
from openai import AsyncOpenAI
from wire import adapter_of, serve_over_wire

agents = adapter_of("openai-agents-python")


async def streamed(*arguments, **options):
    result = Runner.run_streamed(*arguments, **options)
    async for _ in result.stream_events():
        pass
    return result


async def run(run):
    endpoint = run.endpoint
    kind = OpenAIChatCompletionsModel if endpoint.api == "openai-chat" else OpenAIResponsesModel
    model = kind(endpoint.model, AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key))
    await agents.run(run, model, streamed if endpoint.stream else Runner.run)


about = {"package": "openai-agents", "name": "OpenAI Agents SDK (Python)", "url": "https://github.com/openai/openai-agents-python"}
serve_over_wire(run, agents.describe, apis=["openai-chat", "openai-responses"], **about)
