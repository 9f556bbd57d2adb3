# /// script
# requires-python = ">=3.11"
# dependencies = ["google-adk==2.13.0", "litellm==1.110.2"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Sessions of Google's Agent Development Kit as JSON, which `adk run --save_session` writes."""

import asyncio
import base64
import json

import story
from google.adk.agents import LlmAgent
from google.adk.models.lite_llm import LiteLlm
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from out import source, write


def get_weather(city: str, station: str = "") -> dict:
    """The weather of a city now."""
    said, failed = story.result_of("get_weather", {"city": city, "station": station})
    return {"error" if failed else "result": said}


async def main():
    service = InMemorySessionService()
    agent = LlmAgent(name="weather", model=LiteLlm("openai/" + story.CHAT_MODEL), instruction=story.SYSTEM, tools=[get_weather])
    runner = Runner(app_name="weather", agent=agent, session_service=service)
    for number, (texts, image) in enumerate(story.openings(), 1):
        session = await service.create_session(app_name="weather", user_id="user", session_id=f"session-{number}")
        for index, text in enumerate(texts):
            parts = [types.Part.from_text(text=text)]
            if image and not index:
                parts.append(types.Part.from_bytes(data=base64.b64decode(story.IMAGE_BASE64), mime_type="image/png"))
            async for _ in runner.run_async(user_id="user", session_id=session.id, new_message=types.Content(role="user", parts=parts)):
                pass
        session = await service.get_session(app_name="weather", user_id="user", session_id=session.id)
        write("adk", "clean.json" if number == 1 else "clean-picture.json", json.loads(session.model_dump_json(exclude_none=True, by_alias=True)))


asyncio.run(main())
source("adk", "Sessions of Google's Agent Development Kit as `adk run --save_session` writes them: `Session.model_dump_json(exclude_none=True, by_alias=True)`.", "google-adk", "litellm")
