# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""What coding agents save of one session with two prompts, the second by their option to go on, or print of it as stream-json."""

import json
import os
import re

import programs
from out import source, write

QUESTION, THANKS = "What is in notes.txt and missing.txt?", "Thank you!"
QUIET = {"privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False}}
MODEL = {"id": "gpt-4.1", "name": "gpt-4.1", "reasoning": False, "input": ["text"], "contextWindow": 1000000, "maxTokens": 8192, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
PI = {"name": "judged", "baseUrl": os.environ["OPENAI_BASE_URL"], "apiKey": "OPENAI_API_KEY", "api": "openai-completions", "models": [MODEL]}
CONTINUE = {"name": "judged", "provider": "anthropic", "model": "claude-sonnet-4-5", "apiKey": os.environ["ANTHROPIC_API_KEY"], "apiBase": os.environ["ANTHROPIC_BASE_URL"] + "/v1", "roles": ["chat"], "capabilities": ["tool_use"]}
FILES = {
    "judged.js": f"export default (pi) => pi.registerProvider('judged', {json.dumps(PI)})\n",
    "judged.yaml": json.dumps({"name": "judged", "version": "1.0.0", "schema": "v1", "models": [CONTINUE]}),
    ".gemini/settings.json": json.dumps(QUIET | {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False}}),
    ".qwen/settings.json": json.dumps(QUIET | {"security": {"auth": {"selectedType": "openai"}}, "general": {"disableAutoUpdate": True}, "tools": {"toolSearch": {"enabled": False}}}),
}


def records(text, work, home):
    """The values of a text of lines, or its one value, without the machine and with long texts cut."""
    text = re.sub(r'"messaging_socket_path":"[^"]*",?', "", programs.without_machine(text, work, home))
    values = [json.loads(line) for line in text.splitlines() if line.strip()] if text.startswith('{"') else json.loads(text)
    return programs.shortened(values, 400, 12) if isinstance(values, dict) else [programs.shortened(value, 400, 12) for value in values]


def session(form, what, package, folder, first, again, **environment):
    """Runs a program with both prompts, or with the first alone, and writes its session; gives what it printed."""
    with programs.project() as (work, home):
        for name, content in FILES.items():
            (home / name).parent.mkdir(exist_ok=True)
            (home / name).write_text(content)
        commands = [[part.replace("~", str(home)) for part in command] for command in (first, again)]
        printed = "".join(programs.run(home, *command, prompt, **environment) for command, prompt in zip(commands, (QUESTION, THANKS)) if command)
        version = {package: json.loads((programs.BIN.parent / package / "package.json").read_text())["version"]}
        if folder:
            saved = [path for path in (home / folder).rglob("*.json*") if path.name != "sessions.json" and path.stat().st_size > 2000]
            write(form, "clean" + saved[0].suffix, records(saved[0].read_text(), work, home))
            source(form, what, script="make-agents.py", versions=version)
        return records(printed, work, home) if "stream-json" in first else [], version


PI_OPTIONS = ("pi", "-e", "~/judged.js", "--provider", "judged", "--model", "gpt-4.1")
session("pi", "A session file of pi (`~/.pi/agent/sessions`).", "@mariozechner/pi-coding-agent", ".pi/agent/sessions", (*PI_OPTIONS, "-p"), (*PI_OPTIONS, "-c", "-p"))

QWEN = ("qwen", "--auth-type", "openai", "--yolo")
session("qwen-code", "A session file of Qwen Code (`~/.qwen/projects/…/chats`). Its requests have a tool without a schema, which the provider tells.", "@qwen-code/qwen-code", ".qwen/projects", (*QWEN, "-p"), (*QWEN, "--continue", "-p"), OPENAI_MODEL="qwen3-coder-plus", QWEN_CODE_SUPPRESS_YOLO_WARNING="1")

CN = ("cn", "-p", "--auto", "--config", "~/judged.yaml")
session("continue", "A session file of Continue's `cn` (`~/.continue/sessions`).", "@continuedev/cli", ".continue/sessions", CN, (*CN, "--resume"))

CLAUDE = ("claude", "--dangerously-skip-permissions", "--model", "claude-sonnet-4-5", "--output-format", "stream-json", "--verbose")
printed, version = session("", "", "@anthropic-ai/claude-code", None, (*CLAUDE, "-p"), (*CLAUDE, "--continue", "-p"), IS_SANDBOX="1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1", DISABLE_AUTOUPDATER="1")
write("claude-stream-json", "clean.jsonl", printed)
source("claude-stream-json", "What Claude Code prints with `--output-format stream-json`, of both prompts. Long texts and lists are cut.", script="make-agents.py", versions=version)

# It cannot go on from this session: it sends each result twice, which is refused.
GEMINI = ("gemini", "-m", "gemini-2.5-pro", "--yolo", "--skip-trust", "-o", "stream-json", "-p")
printed, version = session("gemini-cli", "A chat that Gemini CLI saved (`~/.gemini/tmp/…/chats`).", "@google/gemini-cli", ".gemini/tmp", GEMINI, (), GEMINI_CLI_NO_RELAUNCH="true")
write("gemini-stream-json", "clean.jsonl", printed)
source("gemini-stream-json", "What Gemini CLI prints with `--output-format stream-json`.", script="make-agents.py", versions=version)
