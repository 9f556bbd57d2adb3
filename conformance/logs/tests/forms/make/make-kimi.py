# /// script
# requires-python = ">=3.12"
# dependencies = ["kimi-cli==1.39.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A session of Kimi CLI with two prompts, the second by `--continue`: its context (`context.jsonl`) and its wire log (`wire.jsonl`). The system prompt is cut."""

import json
import os
import sys
from pathlib import Path

import programs
from out import source, write

CONFIG = {
    "default_model": "judged",
    "providers": {"judged": {"type": "openai_legacy", "base_url": os.environ["OPENAI_BASE_URL"], "api_key": os.environ["OPENAI_API_KEY"]}},
    "models": {"judged": {"provider": "judged", "model": "gpt-4.1", "max_context_size": 200000}},
}

with programs.project() as (work, home):
    for arguments in (("What is in notes.txt and missing.txt?",), ("Thank you!", "--continue")):
        programs.run(home, Path(sys.executable).parent / "kimi", "--config", json.dumps(CONFIG), "--print", "-c", *arguments)
    for name, file in (("clean", "context.jsonl"), ("clean-wire", "wire.jsonl")):
        (path,) = (home / ".kimi/sessions").rglob(file)
        lines = programs.without_machine(path.read_text(), work, home).splitlines()
        write("kimi", f"{name}.jsonl", [programs.shortened(json.loads(line), 400, 12) for line in lines])
source("kimi", __doc__, "kimi-cli")
