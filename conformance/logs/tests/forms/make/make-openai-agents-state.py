# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents==0.24.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The state of two runs of the OpenAI Agents SDK for Python (`result.to_state().to_string()`), the second with the history of the first as its input."""

import asyncio
import json

import story
from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from out import source, write

set_tracing_disabled(True)


@function_tool(failure_error_function=lambda context, error: f"Error: {error}")
def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    return story.get_weather(city, station)


async def main():
    agent = Agent(name="weather", instructions=story.SYSTEM, tools=[get_weather], model=OpenAIResponsesModel(story.RESPONSES_MODEL, AsyncOpenAI()))
    first = await Runner.run(agent, story.QUESTION)
    second = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": story.THANKS}])
    for name, result in (("clean", first), ("clean-history", second)):
        write("openai-agents-state", f"{name}.json", json.loads(result.to_state().to_string()))


asyncio.run(main())
source("openai-agents-state", __doc__, "openai-agents", "openai")
