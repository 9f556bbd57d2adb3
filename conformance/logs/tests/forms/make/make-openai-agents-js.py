# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The state of two runs of the OpenAI Agents SDK for JavaScript (`result.state.toString()`), the second with the history of the first as its input."""

import json
import os
import subprocess
from pathlib import Path

import story
from out import source, write

HERE = Path(__file__).parent
told = {"system": story.SYSTEM, "model": story.CHAT_MODEL, "description": story.DESCRIPTION, "parameters": story.PARAMETERS, "question": story.QUESTION, "thanks": story.THANKS}
printed = subprocess.run(["node", HERE / "agents.mjs"], env=os.environ | {"STORY": json.dumps(told)}, check=True, capture_output=True, text=True).stdout
for name, state in zip(("clean", "clean-history"), json.loads(printed)):
    write("openai-agents-js", f"{name}.json", state)
source("openai-agents-js", __doc__, versions={"@openai/agents": json.loads((HERE / "package.json").read_text())["dependencies"]["@openai/agents"]})
