"""When a recording is renewed: only if a verdict changed. And what a renewal of the matrix found, and whether it is whole."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import trends, versions
from .adapters import Adapter
from .judging import judge


class Incomplete(Exception):
    """A renewal that lacks something. Nothing of it is published."""


@dataclass
class Renewed:
    """An adapter that was run again, with the step from the newest version that was recorded before."""

    adapter: Adapter
    step: trends.Step
    recording: Path | None = None


def says_otherwise(name, before, after, threadspec):
    """Whether a transcript has another verdict than an earlier one, or one of a case that was not judged there. `before` is None if there is none."""
    if before is None:
        return True
    with tempfile.TemporaryDirectory() as scratch:
        old, new = (verdicts(judge(name, transcript, threadspec, Path(scratch))) for transcript in (before, after))
    return old != new


def verdicts(run):
    """What is said of each case."""
    return {case["id"]: trends.said_of(case) for case in run["cases"]}


def delivered(adapters, folders, recordings):
    """Each adapter at its new version, with the new recording. Raises Incomplete if one is missing, or has several."""
    found, wrong = [], []
    for adapter in adapters:
        own = adapter.recording.relative_to(recordings).parent
        places = [path for folder in folders for path in sorted((folder / own).glob(f"{adapter.id}@*.jsonl.xz"))]
        if len(places) == 1:
            found.append((versions.at(adapter, versions.version_of(places[0], adapter)), places[0]))
        else:
            wrong.append(f"{adapter.day} ({len(places)} recordings)")
    if wrong:
        raise Incomplete(f"not all ran, so that nothing is published: {', '.join(wrong)}")
    return found


def newest(runs):
    """Of run files of one adapter, each with its day, that of the newest version, and of several of one version the newest."""
    return max(runs, key=lambda run: (trends.by_version(trends.version(run[1])), run[0]))[1]


def issue(renewed):
    """Title and text of the issue that tells which verdicts changed; None if none did."""
    changed = sorted((one for one in renewed if one.step.changed), key=lambda one: one.adapter.day)
    if not changed:
        return None
    frameworks = dict.fromkeys(f"{one.adapter.folder.name} {one.step.after}" for one in changed)
    lines = ["The matrix was renewed, and these verdicts are not what they were. A case is compared where it was put to both versions.", ""]
    for one in changed:
        lines += [f"### {one.adapter.day.split('@')[0]}: {one.step.before} → {one.step.after}", "", "| | clause | cases | the smallest |", "|---|---|--:|---|"]
        lines += [f"| {kind} | {clause} | {len(cases)} | `{cases[0]}` |" for kind, found in (("mended", one.step.mended), ("broke", one.step.broke)) for clause, cases in sorted(found.items())]
        lines += [f"| otherwise | {before} → {after} | {len(cases)} | `{cases[0]}` |" for (before, after), cases in sorted(one.step.otherwise.items())]
        lines += ["", f"Again: `threadspec matrix run {one.adapter.folder.name}@{one.step.after}`", ""]
    return f"Matrix: verdicts changed in {', '.join(frameworks)}", "\n".join(lines)
