# /// script
# requires-python = ">=3.11"
# dependencies = ["openai-agents==0.24.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The database of a `SQLiteSession` of the OpenAI Agents SDK, with both conversations as sessions of their own."""

import asyncio
import tempfile
from pathlib import Path

import story
from agents import Agent, OpenAIResponsesModel, Runner, SQLiteSession, function_tool, set_tracing_disabled
from openai import AsyncOpenAI
from out import source, write_database

set_tracing_disabled(True)


@function_tool(failure_error_function=lambda context, error: f"Error: {error}")
def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    return story.get_weather(city, station)


async def main(path):
    agent = Agent(name="weather", instructions=story.SYSTEM, tools=[get_weather], model=OpenAIResponsesModel(story.RESPONSES_MODEL, AsyncOpenAI()))
    for number, (texts, image) in enumerate(story.openings(), 1):
        session = SQLiteSession(f"session-{number}", path)
        for index, text in enumerate(texts):
            content = [{"type": "input_text", "text": text}, {"type": "input_image", "image_url": image, "detail": "auto"}]
            await Runner.run(agent, [{"role": "user", "content": content}] if image and not index else text, session=session)
        session.close()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "session.sqlite"
    asyncio.run(main(path))
    write_database("openai-agents-sqlite", path)
source("openai-agents-sqlite", __doc__, "openai-agents", "openai")
