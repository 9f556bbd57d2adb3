"""Microsoft Agent Framework's `Agent.run` on its provider packages, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agent_framework import Agent
from agent_framework.anthropic import AnthropicClient
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient
from anthropic import AsyncAnthropic
from wire import adapter_of, serve_over_wire

framework = adapter_of("agent-framework")


def model(run):
    endpoint = run.endpoint
    limits = {"function_invocation_configuration": framework.limits(run)}
    if endpoint.api == "anthropic":
        client = AsyncAnthropic(base_url=endpoint.base_url, api_key=endpoint.api_key)
        return AnthropicClient(model=endpoint.model, anthropic_client=client, **limits)
    kind = OpenAIChatCompletionClient if endpoint.api == "openai-chat" else OpenAIChatClient
    return kind(model=endpoint.model, base_url=endpoint.base_url, api_key=endpoint.api_key, **limits)


async def streamed(agent, messages):
    return await agent.run(messages, stream=True).get_final_response()


async def run(run):
    await framework.run(run, model(run), streamed if run.endpoint.stream else Agent.run)


APIS = ["openai-chat", "openai-responses", "anthropic"]
about = {"package": "agent-framework-core", "name": "Microsoft Agent Framework", "url": "https://github.com/microsoft/agent-framework"}
serve_over_wire(run, framework.describe, apis=APIS, **about)
