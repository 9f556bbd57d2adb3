# /// script
# requires-python = ">=3.11"
# dependencies = ["agno==3.1.10", "openai==3.57.0", "sqlalchemy==2.0.44"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Agno's session store: the rows of `SqliteDb`, with both conversations as sessions of their own."""

import base64
import tempfile
from pathlib import Path

import story
from agno.agent import Agent
from agno.db.sqlite import SqliteDb
from agno.media import Image
from agno.models.openai import OpenAIChat
from out import source, write_database


def get_weather(city: str, station: str = "") -> str:
    """The weather of a city now."""
    return story.result_of("get_weather", {"city": city, "station": station})[0]


def converse(db):
    for number, (texts, image) in enumerate(story.openings(), 1):
        agent = Agent(id="weather", model=OpenAIChat(id=story.CHAT_MODEL), instructions=story.SYSTEM, tools=[get_weather], db=db, session_id=f"session-{number}", add_history_to_context=True, telemetry=False)
        for index, text in enumerate(texts):
            agent.run(text, images=[Image(content=base64.b64decode(story.IMAGE_BASE64), format="png")] if image and not index else None)


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "agno.sqlite"
    db = SqliteDb(db_file=str(path))
    converse(db)
    db.db_engine.dispose()
    write_database("agno-sqlite", path)
source("agno-sqlite", "The database of Agno's `SqliteDb` after both conversations.", "agno", "openai", script="make-agno.py")
