# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A session of opencode, as `opencode export SESSION` writes it, and the database that it keeps: one session with two prompts, the second by `--continue`."""

import json

import programs
from out import source, write

CONFIG = {
    "$schema": "https://opencode.ai/config.json",
    "permission": {"*": "allow"},
    "provider": {
        "judged": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {"gpt-4.1": {"attachment": True, "modalities": {"input": ["text", "image"], "output": ["text"]}}},
        }
    },
}

with programs.project() as (work, home):
    (work / "opencode.json").write_text(json.dumps(CONFIG))
    programs.run(home, "opencode", "run", "-m", "judged/gpt-4.1", "What is in notes.txt, missing.txt and picture.png?")
    programs.run(home, "opencode", "run", "-m", "judged/gpt-4.1", "--continue", "Thank you!")
    for path in home.rglob("*"):
        print(path.relative_to(home), path.stat().st_size if path.is_file() else "")
    (session,) = json.loads(programs.run(home, "opencode", "session", "list", "--format", "json"))
    exported = programs.run(home, "opencode", "export", session["id"])
    write("opencode", "clean.json", programs.without_machine(exported, work, home))
    version = programs.run(home, "opencode", "--version").strip()
source("opencode", "A session of opencode with two prompts, the second by `--continue`, as `opencode export` writes it.", versions={"opencode-ai": version})
