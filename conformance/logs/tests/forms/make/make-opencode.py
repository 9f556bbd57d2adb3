# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A session of opencode with two prompts, the second by `run --continue`: its database (`~/.local/share/opencode/opencode.db`), and the same as `opencode export` writes it."""

import contextlib
import json
import os
import sqlite3

import programs
from out import source, write, write_database

PROVIDER = {"npm": "@ai-sdk/openai-compatible", "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"}, "models": {"gpt-4.1": {}}}
CONFIG = {"$schema": "https://opencode.ai/config.json", "autoupdate": False, "share": "disabled", "provider": {"judged": PROVIDER}}

with programs.project() as (work, home):
    environment = {"OPENCODE_CONFIG_CONTENT": json.dumps(CONFIG), "OPENCODE_DISABLE_MODELS_FETCH": "1", "XDG_DATA_HOME": ""}
    arguments = ("run", "--auto", "--model", "judged/gpt-4.1")
    programs.run(home, "opencode", *arguments, "--title", "Files", "What is in notes.txt, missing.txt and picture.png?", **environment)
    programs.run(home, "opencode", *arguments, "--continue", "Thank you!", **environment)
    path = home / ".local/share/opencode/opencode.db"
    with contextlib.closing(sqlite3.connect(path)) as database:
        ((session,),) = database.execute("SELECT id FROM session").fetchall()
        exported = programs.run(home, "opencode", "export", session, **environment)
        for table, column in (("session", "directory"), ("session", "path"), ("message", "data"), ("part", "data"), ("event", "data")):
            for row, text in database.execute(f"SELECT rowid, {column} FROM {table}").fetchall():
                database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (programs.without_machine(text, work, home), row))
        database.execute("DELETE FROM migration")
        database.commit()
    write_database("opencode", path)
    write("opencode", "clean.json", json.loads(programs.without_machine(exported, work, home)))
    version = programs.run(home, "opencode", "--version").strip()
source("opencode", __doc__ + "\n\nThe folders of the machine have other names, and the rows of `migration` are left out.", versions={"opencode-ai": version})
