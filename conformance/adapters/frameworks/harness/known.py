"""Files of known failures, for `verify --known-failures`: a run is green until something changes. They are made when they are needed."""

import json
import tempfile
from pathlib import Path

from .adapters import MADE
from .cells import choices, finding
from .judging import judge

LONGEST = 200


def file_of(adapter, threadspec):
    """The file of known failures of an adapter or a program; one that is not written by hand is made from the recording. None if there is no recording."""
    path = adapter.known_failures
    if not path.is_relative_to(MADE):
        return path if path.exists() else None
    if (transcript := adapter.transcript) is None:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        write(path, known_failures(adapter, judge(adapter.day, transcript, threadspec, Path(scratch))))
    return path


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def known_failures(adapter, run):
    """What the file of an adapter says: each case that fails today, and why."""
    yield f"# What {adapter.id} is known to fail, made from the recording."
    documented = choices(adapter)
    for case in sorted(run["cases"], key=lambda case: case["id"]):
        if "charged" not in case and case.get("beside"):
            beside = next(line for line in case["note"].splitlines() if line.startswith("beside "))
            yield f'\n[[known]]\npattern = {quoted(case["id"])}\nreason = {quoted(beside[:LONGEST])}'
        if "charged" in case:
            shown = finding(documented, case, case["charged"])
            entry = f'\n[[known]]\npattern = {quoted(case["id"])}\nreason = {quoted(reason(case, shown))}'
            yield entry + (f"\ndocumented = {quoted(shown.choice.link)}" if shown.choice and shown.choice.link else "")


def marked(run, documented):
    """A run file in which each failed case that is one of these documented choices has the mark that reports show."""

    def is_choice(case):
        return "charged" in case and finding(documented, case, case["charged"]).choice

    return {**run, "cases": [{**case, "documented": True} if is_choice(case) else case for case in run["cases"]]}


def reason(case, shown):
    text = f"{case['charged']}: {shown.choice.note if shown.choice else shown.what}"
    if case["verdict"] not in ("fail", "rejected"):
        text = f"{case['verdict']}: {shown.what}"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def quoted(text):
    """A TOML string: JSON's escapes are among TOML's."""
    return json.dumps("".join(character if character.isprintable() else "�" for character in text), ensure_ascii=False)
