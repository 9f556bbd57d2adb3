# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A session file of Claude Code (`~/.claude/projects/…/*.jsonl`): one session with two prompts, the second by `--continue`."""

import json

import programs
from out import source, write

with programs.project() as (work, home):
    arguments = ("--dangerously-skip-permissions", "--model", "claude-sonnet-4-5")
    environment = {"IS_SANDBOX": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
    programs.run(home, "claude", "-p", "What is in notes.txt, missing.txt and picture.png?", *arguments, **environment)
    programs.run(home, "claude", "-p", "Thank you!", "--continue", *arguments, **environment)
    (session,) = (home / ".claude/projects").rglob("*.jsonl")
    records = []
    for line in programs.without_machine(session.read_text(), work, home).splitlines():
        record = json.loads(line)
        records.append(record if record["type"] in ("user", "assistant") else programs.shortened(record, 100, 6))
    write("claude-code", "clean.jsonl", records)
    version = programs.run(home, "claude", "--version").split()[0]
source("claude-code", __doc__ + "\n\nTexts and lists that are no part of the conversation (system prompt, tools) are cut.", versions={"@anthropic-ai/claude-code": version})
