# /// script
# requires-python = ">=3.11"
# dependencies = ["agno==3.1.10", "openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The sessions of Agno's `JsonDb` after both conversations: one JSON file with all of them."""

import base64
import tempfile
from pathlib import Path

import story
from agno.agent import Agent
from agno.db.json import JsonDb
from agno.media import Image
from agno.models.openai import OpenAIChat
from out import source, write


def get_weather(city: str, station: str = "") -> str:
    """The weather of a city now."""
    return story.result_of("get_weather", {"city": city, "station": station})[0]


with tempfile.TemporaryDirectory() as folder:
    for number, (texts, image) in enumerate(story.openings(), 1):
        agent = Agent(id="weather", model=OpenAIChat(id=story.CHAT_MODEL), instructions=story.SYSTEM, tools=[get_weather], db=JsonDb(db_path=folder), session_id=f"session-{number}", add_history_to_context=True, telemetry=False)
        for index, text in enumerate(texts):
            agent.run(text, images=[Image(content=base64.b64decode(story.IMAGE_BASE64), format="png")] if image and not index else None)
    write("agno-json", "clean.json", (Path(folder) / "agno_runs.json").read_text())
source("agno-json", __doc__, "agno", "openai")
