"""The recordings of gateways, as the runner judges them now, with the reasons that people wrote for what is broken."""

import fnmatch
import functools
import json
import re
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from gateways import HERE, gateways, pairs, recorded

from harness.cells import column
from harness.judging import judge
from harness.known import LONGEST, quoted, write

FINDING = re.compile(r"^(?:beside )?((?:AGENT|GATE|WIRE)-[A-Z0-9-]+): (.*)", re.MULTILINE)


@dataclass(frozen=True)
class Reason:
    """What a gateway does where it breaks a clause, as somebody has seen in both bodies."""

    gateway: str
    clause: str
    why: str
    cases: tuple = ("*",)
    pairs: tuple = ("*",)
    # What removes it, if an option does.
    option: str = ""

    def explains(self, pair, clause, case):
        fits = any(fnmatch.fnmatchcase(case, glob) for glob in self.cases) and any(fnmatch.fnmatchcase(pair.key, glob) for glob in self.pairs)
        return fits and self.gateway == pair.gateway.name and self.clause == clause


@dataclass
class Cell:
    """What a run shows of a gateway in one pair: each clause that is broken, with its cases."""

    pair: object
    run: dict

    @functools.cached_property
    def column(self):
        return column(self.pair, self.run, days()[self.pair.gateway.name], [])

    @property
    def cells(self):
        """What the run says of each clause."""
        return self.column.cells if self.run else {}

    def broken(self):
        """The cases that are charged to each broken clause, `must` or `should`."""
        return {clause: [finding.case for finding in cell.found] for clause, cell in self.cells.items() if cell.found}

    def shown(self):
        """The cases that show each clause broken, also those that are charged to another one."""
        return {clause: [finding.case for finding in cell.found + cell.touched + cell.beside] for clause, cell in self.cells.items() if cell.found + cell.touched}

    def text(self, order):
        if not self.run:
            return ""
        found = {name: self.cells[name] for name in sorted(self.broken(), key=order)}
        parts = [f"{name.removeprefix('GATE-')} {len(cell.faults) or f'C {len(cell.contrived)}'}" for name, cell in found.items() if not cell.recommended]
        parts += [f"*{name.removeprefix('GATE-')} {len(cell.faults) or f'C {len(cell.contrived)}'}*" for name, cell in found.items() if cell.recommended]
        return ", ".join(parts) or "pass"


def failing(run):
    return [case for case in run["cases"] if case["verdict"] not in ("pass", "unsupported", "not-run") or case.get("beside")] if run else []


def findings(case):
    return FINDING.findall(case.get("note", ""))


def cells(each):
    """All pairs, each with what its recording shows. `each` makes what a function makes of many arguments, in order; the function gets a way to judge a transcript."""
    said = {gateway.name: recorded(gateway) for gateway in gateways()}

    def judged(judge, pair):
        transcript = said[pair.gateway.name].get(pair.key)
        return Cell(pair, judge(pair.id, transcript) if transcript else None)

    return list(each(judged, pairs()))


@functools.cache
def days():
    return json.loads((HERE / "recordings/days.json").read_text())


def known_failures_file(pair, threadspec):
    """The file of known failures of a pair, made from its recording; None if nothing fails, or nothing is recorded."""
    if not (transcript := recorded(pair.gateway).get(pair.key)):
        return None
    with tempfile.TemporaryDirectory() as scratch:
        cell = Cell(pair, judge(pair.id, transcript, threadspec, Path(scratch)))
    if not failing(cell.run):
        return None
    write(pair.known_failures, known_failures(cell, reasons()))
    return pair.known_failures


def known_failures(cell, why):
    yield f"# What {cell.pair.gateway.called} is known to fail, {cell.pair.called}{', streaming' if cell.pair.stream else ''}, made from the recording."
    for case in sorted(failing(cell.run), key=lambda case: case["id"]):
        yield f'\n[[known]]\npattern = {quoted(case["id"])}\nreason = {quoted(reason(cell.pair, case, why))}'


def reason(pair, case, why):
    found = findings(case)
    if not found:
        return f"{case['verdict']}: {case.get('note', '')}"[:LONGEST]
    clause, what = found[0]
    said = next((one.why for one in why if one.explains(pair, clause, case["id"])), what)
    text = f"{clause}: {said}"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def reasons():
    path = HERE / "reasons.toml"
    entries = tomllib.loads(path.read_text())["reason"] if path.exists() else []
    return [Reason(**{**entry, **{key: tuple(entry[key]) for key in ("cases", "pairs") if key in entry}}) for entry in entries]
