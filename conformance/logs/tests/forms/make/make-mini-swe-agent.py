# /// script
# requires-python = ">=3.11"
# dependencies = ["mini-swe-agent==2.4.6", "litellm==1.110.2"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A trajectory of mini-swe-agent (`mini -o`), whose messages are those of chat completions with `extra`."""

import subprocess
import sys
from pathlib import Path

import programs
from out import source, write

with programs.project() as (work, home):
    mini = Path(sys.executable).parent / "mini"
    environment = {"HOME": str(home), "MSWEA_CONFIGURED": "true", "MSWEA_COST_TRACKING": "ignore_errors", "MSWEA_GLOBAL_CONFIG_DIR": str(home)}
    command = [mini, "-y", "--exit-immediately", "-m", "openai/gpt-4.1", "-t", "What is in notes.txt and missing.txt?", "-o", home / "run.traj.json"]
    subprocess.run(command, env=programs.os.environ | environment, stdin=subprocess.DEVNULL, check=True, capture_output=True, text=True, timeout=600)
    write("mini-swe-agent", "clean.traj.json", programs.without_machine((home / "run.traj.json").read_text(), work, home))
source("mini-swe-agent", __doc__, "mini-swe-agent", "litellm")
