# /// script
# requires-python = ">=3.11"
# dependencies = ["strands-agents[openai]==1.62.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The files of a `FileSessionManager` of Strands Agents: a folder for each session, a file for each message."""

import base64
import shutil
import tempfile
from pathlib import Path

import story
from out import FORMS, source, tidied
from strands import Agent, tool
from strands.models.openai import OpenAIModel
from strands.session.file_session_manager import FileSessionManager

with tempfile.TemporaryDirectory() as folder:
    for number, (texts, image) in enumerate(story.openings(), 1):
        agent = Agent(
            model=OpenAIModel(model_id=story.CHAT_MODEL),
            system_prompt=story.SYSTEM,
            tools=[tool(story.get_weather)],
            agent_id="weather",
            session_manager=FileSessionManager(f"conversation-{number}", storage_dir=folder),
            callback_handler=None,
        )
        for index, text in enumerate(texts):
            picture = [{"image": {"format": "png", "source": {"bytes": base64.b64decode(story.IMAGE_BASE64)}}}] if image and not index else []
            agent([{"text": text}, *picture])
    clean = FORMS / "strands/clean"
    shutil.rmtree(clean, ignore_errors=True)
    for file in sorted(Path(folder).rglob("*.json")):
        target = clean / file.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(tidied("strands", file.read_text()))
source("strands", __doc__, "strands-agents", "openai")
