"""Writes fixtures, without paths and names of the machine that made them and with ids in the order in which they appear."""

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import re
import shutil
import sqlite3
import zlib
from pathlib import Path

FORMS = Path(__file__).resolve().parent.parent
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
NUMBERED = {}


def tidied(form: str, text: str, *private: str) -> str:
    """The text with UUIDs numbered within the form, and with `private` strings, the home and the working folder replaced."""
    for string in sorted(private, key=len, reverse=True):
        text = text.replace(string, "private")
    text = text.replace(os.getcwd(), "/home/user/project").replace(str(FORMS), "/home/user/project")
    text = text.replace(str(Path.home()), "/home/user").replace(platform.node(), "host")
    return UUID.sub(lambda found: NUMBERED.setdefault(found[0], f"{zlib.crc32(form.encode()):08x}-0000-4000-8000-{len(NUMBERED) + 1:012}"), text)


def write(form: str, name: str, content, *private: str) -> None:
    """Writes a file of a form: text, a list (JSON Lines) or another value (JSON)."""
    folder = FORMS / form
    folder.mkdir(exist_ok=True)
    if isinstance(content, list) and name.endswith(".jsonl"):
        content = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in content)
    elif not isinstance(content, str):
        content = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    (folder / name).write_text(tidied(form, content, *private))


def write_database(form: str, path) -> None:
    """Writes a SQLite database as one small file: no journal beside it, small pages, nothing deleted in it."""
    (FORMS / form).mkdir(exist_ok=True)
    with contextlib.closing(sqlite3.connect(path)) as database:
        for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA page_size=512", "VACUUM"):
            database.execute(statement)
    shutil.copy(path, FORMS / form / "clean.sqlite")


def source(form: str, what: str, *packages: str, script: str | None = None, versions: dict | None = None) -> None:
    """Writes source.toml: what the files are, which script made them and when, and the versions of the packages."""
    versions = {package: importlib.metadata.version(package) for package in packages} | (versions or {})
    members = {"what": " ".join(what.split()), "script": script or f"make-{form}.py"}
    lines = [f"{name} = {quoted(value)}" for name, value in members.items()] + [f"made = {datetime.date.today()}"]
    lines += ["", "[packages]", *(f"{quoted(package)} = {quoted(version)}" for package, version in versions.items())]
    (FORMS / form / "source.toml").write_text("\n".join(lines) + "\n")


def quoted(text: str) -> str:
    """Returns a text as TOML writes it, which JSON's notation is, too."""
    return json.dumps(text, ensure_ascii=False)
