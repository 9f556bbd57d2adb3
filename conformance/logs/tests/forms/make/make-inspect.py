# /// script
# requires-python = ">=3.11"
# dependencies = ["inspect-ai==0.3.285", "openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""An `.eval` log of inspect: a zip whose samples are the two conversations."""

import shutil
import tempfile
from pathlib import Path

import story
from inspect_ai import Task, eval as run
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentImage, ContentText
from inspect_ai.solver import generate, solver, use_tools
from inspect_ai.tool import ToolError, tool
from out import FORMS, source


@tool
def get_weather():
    async def execute(city: str, station: str | None = None) -> str:
        """The weather of a city now.

        Args:
            city: The city.
            station: The station.
        """
        text, failed = story.result_of("get_weather", {"city": city, "station": station})
        if failed:
            raise ToolError(text)
        return text

    return execute


@solver
def thanks():
    async def solve(state, generate):
        if "picture" in state.input_text:
            state.messages.append(ChatMessageUser(content=story.THANKS))
            return await generate(state)
        return state

    return solve


samples = []
for texts, image in story.openings():
    content = [ContentText(text=texts[0]), ContentImage(image=image)] if image else texts[0]
    samples.append(Sample(input=[ChatMessageSystem(content=story.SYSTEM), ChatMessageUser(content=content)]))
with tempfile.TemporaryDirectory() as folder:
    task = Task(name="weather", dataset=samples, solver=[use_tools(get_weather()), generate(), thanks()])
    run(task, model=f"openai/{story.CHAT_MODEL}", log_dir=folder, log_format="eval", display="none", max_samples=1, model_args={"responses_api": False})
    (path,) = Path(folder).glob("*.eval")
    (FORMS / "inspect").mkdir(exist_ok=True)
    shutil.copy(path, FORMS / "inspect/clean.eval")
source("inspect", __doc__, "inspect-ai", "openai")
