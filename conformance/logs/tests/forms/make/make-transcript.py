# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==3.57.0", "anthropic==0.112.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A transcript of `threadspec provider --transcript`: both conversations over chat completions, Responses and Anthropic's Messages."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from out import source, write

TALK = {
    "openai-chat": "from openai import OpenAI; list(story.chat(OpenAI()))",
    "openai-responses": "from openai import OpenAI; list(story.responses(OpenAI(), stream=True))",
    "anthropic": "from anthropic import Anthropic; list(story.anthropic(Anthropic()))",
}
threadspec = os.environ.get("THREADSPEC", "threadspec")
with tempfile.TemporaryDirectory() as folder:
    for api, talk in TALK.items():
        path = Path(folder) / f"{api}.jsonl"
        command = [threadspec, "provider", "--script", "story.json", "--transcript", path, "--", sys.executable, "-c", f"import story; {talk}"]
        subprocess.run(command, check=True, capture_output=True)
        write(f"transcript-{api}", "clean.jsonl", path.read_text())
        source(f"transcript-{api}", __doc__, "openai", "anthropic", script="make-transcript.py")
