"""Files of known failures, for `verify --known-failures`: a run is green until something changes."""

import json

from .cells import FINDING, choices

LONGEST = 200


def known_failures(adapter, run, documented=None):
    """What the file of an adapter should say: each case that fails today, and why. `documented` are the choices of its folder, if not others."""
    yield f"# What {adapter.id} is known to fail, as `matrix` wrote it from the recording; do not edit."
    documented = choices(adapter) if documented is None else documented
    for case in sorted(run["cases"], key=lambda case: case["id"]):
        if case["verdict"] not in ("pass", "unsupported", "not-run"):
            yield f'\n[[known]]\npattern = {quoted(case["id"])}\nreason = {quoted(reason(case, documented))}'


def reason(case, documented):
    findings = FINDING.findall(case.get("note", ""))
    if not findings:
        return f"{case['verdict']}: {case.get('note', '')}"[:LONGEST]
    clause, what = findings[0]
    choice = next((choice for choice in documented if choice.explains(clause, case["id"], what)), None)
    text = f"{clause}: {choice.note if choice else what}"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def quoted(text):
    """A TOML string: JSON's escapes are among TOML's."""
    return json.dumps("".join(character if character.isprintable() else "�" for character in text), ensure_ascii=False)
