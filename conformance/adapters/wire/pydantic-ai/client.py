"""pydantic-ai's `Agent.run` on its own models, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from wire import adapter_of, serve_over_wire

pydantic_ai = adapter_of("pydantic-ai")


def model(endpoint):
    where = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
    if endpoint.api == "anthropic":
        return AnthropicModel(endpoint.model, provider=AnthropicProvider(**where))
    kind = OpenAIChatModel if endpoint.api == "openai-chat" else OpenAIResponsesModel
    return kind(endpoint.model, provider=OpenAIProvider(**where))


async def streamed(context, events):
    """With a handler of events the agent asks for streams."""
    async for _ in events:
        pass


async def run(run):
    options = {"event_stream_handler": streamed} if run.endpoint.stream else {}
    await pydantic_ai.run(run, model(run.endpoint), **options)


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, pydantic_ai.describe, apis=APIS, package="pydantic-ai-slim", name="pydantic-ai", url="https://github.com/pydantic/pydantic-ai")
