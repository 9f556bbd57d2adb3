"""What the scripts that run a program share: a small project to work in, and a home of its own."""

import base64
import contextlib
import os
import subprocess
import tempfile
from pathlib import Path

import story

BIN = Path(__file__).parent / "node_modules/.bin"


@contextlib.contextmanager
def project():
    """Gives a folder for the project and one for the home, and works in the first."""
    with tempfile.TemporaryDirectory() as root:
        root, before = Path(root).resolve(), os.getcwd()
        work, home = root / "project", root / "home"
        work.mkdir()
        home.mkdir()
        (work / "notes.txt").write_text("hello\n")
        (work / "picture.png").write_bytes(base64.b64decode(story.IMAGE_BASE64))
        os.chdir(work)
        try:
            yield work, home
        finally:
            os.chdir(before)


def run(home, *command, **environment):
    """Runs a program of node_modules with this home, without input, and gives what it printed."""
    done = subprocess.run([BIN / command[0], *command[1:]], env=os.environ | {"HOME": str(home), "PWD": os.getcwd()} | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=400)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def without_machine(text, work, home):
    """The text with the folders of `project` under other names, also in Claude Code's and opencode's spelling of a folder's name."""
    for folder, name in ((work, "/home/user/project"), (home, "/home/user")):
        text = text.replace(str(folder), name).replace(str(folder)[1:], name[1:]).replace(str(folder).replace("/", "-").replace("_", "-"), name.replace("/", "-"))
    return text


def shortened(value, longest=160, most=8):
    """The value with long texts and lists cut: system prompts, declarations of tools."""
    if isinstance(value, dict):
        return {name: shortened(below, longest, most) for name, below in value.items()}
    if isinstance(value, list):
        return [shortened(below, longest, most) for below in value[:most]]
    if isinstance(value, str) and len(value) > longest and not value.startswith("iVBOR"):
        return value[:longest] + "…"
    return value
