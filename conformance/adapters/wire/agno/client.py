"""Agno's `Agent.arun` on its own models, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agno.agent import Agent
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat, OpenAIResponses
from agno.run.agent import RunCompletedEvent, RunErrorEvent, RunOutput
from wire import adapter_of, serve_over_wire

agno = adapter_of("agno")


def model(endpoint):
    where = {"id": endpoint.model, "api_key": endpoint.api_key}
    if endpoint.api == "anthropic":
        return Claude(client_params={"base_url": endpoint.base_url}, **where)
    return (OpenAIChat if endpoint.api == "openai-chat" else OpenAIResponses)(base_url=endpoint.base_url, **where)


async def streamed(agent, messages):
    output = None
    async for event in agent.arun(messages, stream=True, yield_run_output=True):
        if isinstance(event, RunOutput):
            output = event
    return output


async def run(run):
    await agno.run(run, model(run.endpoint), streamed if run.endpoint.stream else Agent.arun)


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, agno.describe, apis=APIS, package="agno", name="Agno", url="https://github.com/agno-agi/agno")
