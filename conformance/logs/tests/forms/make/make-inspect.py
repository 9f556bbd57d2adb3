# /// script
# requires-python = ">=3.11"
# dependencies = ["inspect-ai==0.3.285", "openai==2.26.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""An `.eval` log of Inspect (a zip of JSON) and the same as JSON, of a task with both conversations as samples."""

import os
import tempfile
from pathlib import Path

import story
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText
from inspect_ai.solver import generate, system_message, use_tools
from inspect_ai.tool import ToolError, tool
from out import FORMS, source, tidied


@tool
def get_weather():
    async def execute(city: str, station: str = "") -> str:
        """The weather of a city now.

        Args:
            city: The city.
            station: The station.
        """
        said, failed = story.result_of("get_weather", {"city": city, "station": station})
        if failed:
            raise ToolError(said)
        return said

    return execute


samples = []
for number, (texts, image) in enumerate(story.openings(), 1):
    content = [ContentText(text=texts[0]), ContentImage(image=image)] if image else texts[0]
    samples.append(Sample(id=f"sample-{number}", input=[ChatMessageUser(content=content)]))
task = Task(name="weather", dataset=MemoryDataset(samples), solver=[system_message(story.SYSTEM), use_tools(get_weather()), generate()])
with tempfile.TemporaryDirectory() as folder:
    (log,) = eval(task, model="openai/gpt-4.1", model_args={"responses_api": False}, model_base_url=os.environ["OPENAI_BASE_URL"], log_dir=folder, display="none", log_realtime=False)
    if log.status != "success":
        raise SystemExit(log.error)
    (FORMS / "inspect").mkdir(exist_ok=True)
    write_eval_log(log, str(Path(folder) / "clean.json"))
    (FORMS / "inspect/clean.json").write_text(tidied("inspect", (Path(folder) / "clean.json").read_text()))
    # The archive is written again from the tidied JSON, by Inspect.
    write_eval_log(read_eval_log(str(FORMS / "inspect/clean.json")), str(FORMS / "inspect/clean.eval"))
source("inspect", __doc__, "inspect-ai", "openai")
