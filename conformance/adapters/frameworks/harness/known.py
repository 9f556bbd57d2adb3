"""Files of known failures, for `verify --known-failures`: a run is green until something changes."""

import json

from .cells import choices, finding

LONGEST = 200


def known_failures(adapter, run, documented=None):
    """What the file of an adapter should say: each case that fails today, and why. `documented` are the choices of its folder, if not others."""
    yield f"# What {adapter.id} is known to fail, as `matrix` wrote it from the recording; do not edit."
    documented = choices(adapter) if documented is None else documented
    for case in sorted(run["cases"], key=lambda case: case["id"]):
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
