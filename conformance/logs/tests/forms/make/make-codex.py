# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A rollout of the Codex CLI (`~/.codex/sessions/…/rollout-*.jsonl`): one session with two prompts, the second by `exec resume --last`."""

import json
import os

import programs
from out import source, write

with programs.project() as (work, home):
    provider = f'model_providers.judged={{name="judged",base_url="{os.environ["OPENAI_BASE_URL"]}",env_key="OPENAI_API_KEY",wire_api="responses"}}'
    options = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-c", "model_provider=judged", "-c", provider, "-c", "model=gpt-5.1-codex")
    programs.run(home, "codex", "exec", *options, "What is in notes.txt, missing.txt and picture.png?")
    programs.run(home, "codex", "exec", "resume", "--last", *options, "Thank you!")
    (rollout,) = (home / ".codex/sessions").rglob("rollout-*.jsonl")
    records = []
    for line in programs.without_machine(rollout.read_text(), work, home).splitlines():
        record = json.loads(line)
        records.append(programs.shortened(record) if record["type"] in ("session_meta", "world_state") else record)
    write("codex", "clean.jsonl", records)
    version = programs.run(home, "codex", "--version").split()[-1]
source("codex", __doc__ + "\n\nTexts that are no part of the conversation (instructions) are cut.", versions={"@openai/codex": version})
