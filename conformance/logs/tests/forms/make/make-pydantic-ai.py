# /// script
# requires-python = ">=3.11"
# dependencies = ["pydantic-ai-slim[openai]==2.68.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""`result.all_messages_json()`, which pydantic-ai's documentation recommends to keep a conversation, after the last run of each."""

import base64
import json

import story
from out import source, write
from pydantic_ai import Agent, BinaryContent, ModelRetry

agent = Agent("openai-chat:gpt-4.1", system_prompt=story.SYSTEM)


@agent.tool_plain
def get_weather(city: str, station: str | None = None) -> str:
    """The weather of a city now."""
    try:
        return story.get_weather(city, station)
    except RuntimeError as error:
        raise ModelRetry(f"Error: {error}") from error


for name, (texts, image) in zip(("clean", "clean-picture"), story.openings()):
    history = []
    for index, text in enumerate(texts):
        picture = [BinaryContent(base64.b64decode(story.IMAGE_BASE64), media_type="image/png")] if image and not index else []
        result = agent.run_sync([text, *picture], message_history=history)
        history = result.all_messages()
    write("pydantic-ai", f"{name}.json", json.loads(result.all_messages_json()))
source("pydantic-ai", __doc__, "pydantic-ai-slim", "openai")
