"""Run files as columns of cells: what each case says about each clause, and what the framework documents as its choice."""

import fnmatch
import functools
import json
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from .adapters import ROOT, Adapter

# A clause, or, over the wire, a rule of the provider.
FINDING = re.compile(r"^((?:AGENT|SESSION|WIRE|OAI|ANT)-[A-Z0-9-]+): (.*)", re.MULTILINE)
PLACE = re.compile(r"\brequest (\d+)")


@dataclass(frozen=True)
class Choice:
    """What a framework documents as its choice: a note where it explains a finding."""

    clause: str
    note: str
    cases: str = "*"
    says: str = ""
    link: str = ""

    def explains(self, clause, case, what):
        return clause == self.clause and fnmatch.fnmatchcase(case, self.cases) and re.search(self.says, what)


@dataclass
class Finding:
    """A case that shows a clause broken."""

    case: dict
    what: str
    choice: Choice | None = None
    # What explains all that the case shows of the clause; `choice` explains what is quoted.
    explained_by: tuple = ()

    @property
    def size(self):
        return len(self.case["input"]), self.case["id"]

    @property
    def request(self):
        """The request that the judge names, as the framework made it; None if there is none to show."""
        place = PLACE.search(self.what)
        try:
            return json.loads(self.case["actual"])["ok"]["requests"][int(place[1]) - 1]
        except (KeyError, IndexError, TypeError, ValueError):
            return None


@dataclass
class Cell:
    """What an adapter's run shows about a clause."""

    recommended: bool = False
    passed: int = 0
    unsupported: int = 0
    faults: list = field(default_factory=list)
    contrived: list = field(default_factory=list)
    choices: list = field(default_factory=list)
    in_the_way: set = field(default_factory=set)
    repro: Path | None = None
    # Reproductions of other faults of the clause.
    more_repros: list = field(default_factory=list)

    @property
    def state(self):
        if self.faults:
            return "warn" if self.recommended else "fail"
        if self.choices:
            return "note"
        if self.contrived:
            return "contrived"
        if self.passed:
            return "pass"
        if self.in_the_way:
            return "blocked"
        return "unsupported" if self.unsupported else "none"

    @property
    def repros(self):
        return [*([self.repro] if self.repro else []), *self.more_repros]

    @property
    def text(self):
        blocked = "by " + ", ".join(sorted(short(clause) for clause in self.in_the_way))
        texts = {"fail": f"FAIL {len(self.faults)}", "warn": f"warn {len(self.faults)}", "note": f"note {len(self.choices)}", "contrived": f"C {len(self.contrived)}", "blocked": blocked, "none": ""}
        return texts.get(self.state, self.state)


def merged(cells):
    """One cell of several, in which a case counts once. What is broken in one of them is broken."""
    whole = Cell(any(cell.recommended for cell in cells), max((cell.passed for cell in cells), default=0), max((cell.unsupported for cell in cells), default=0))
    for kind in ("faults", "contrived", "choices"):
        found = {finding.case["id"]: finding for cell in cells for finding in getattr(cell, kind)}
        setattr(whole, kind, sorted(found.values(), key=lambda finding: finding.size))
    whole.in_the_way = set().union(*(cell.in_the_way for cell in cells))
    return whole


@dataclass
class Column:
    """An adapter, with its cells by clause."""

    adapter: Adapter
    implementation: dict
    day: str
    counts: dict
    documented: int
    cells: dict

    @property
    def id(self):
        return self.adapter.id

    @property
    def folder(self):
        return self.adapter.folder

    @property
    def name(self):
        return self.implementation["name"]

    @property
    def version(self):
        return self.implementation["version"]


@functools.cache
def registry():
    return json.loads((ROOT / "golden/clauses.json").read_text())["clauses"]


def clauses(prefixes=("AGENT-",)):
    """The AGENT clauses, or others, in the order of the registry: id, level, text."""
    return [clause for clause in registry() if clause["id"].startswith(prefixes)]


def recommendations():
    """The ids of all clauses that are recommendations."""
    return {clause["id"] for clause in registry() if clause["level"] == "should"}


def short(clause):
    """A clause without the word that all of its page begin with."""
    return clause.removeprefix("AGENT-").removeprefix("SESSION-")


def choices(adapter):
    return choices_in(adapter.notes)


def choices_in(path):
    return [Choice(**entry) for entry in tomllib.loads(path.read_text())["choice"]] if path.exists() else []


def unshown(columns):
    """The cells that accuse without a reproduction."""
    return sorted(f"{column.id} {clause}" for column in columns for clause, cell in column.cells.items() if cell.faults + cell.contrived and not cell.repro)


def is_excused(case):
    """Whether a failed case does not count, since what it shows is contrived."""
    return case["verdict"] == "fail" and case.get("severity") == "C" and case["level"] == "must" and not case["counts"]


def column(adapter, run, day, documented=None):
    """What a run file says of each clause. `documented` are the choices that count, if they are not those of the adapter."""
    cells, recommended = {clause["id"]: Cell(clause["level"] == "should") for clause in clauses()}, recommendations()
    is_own = documented is None
    documented = choices(adapter) if is_own else documented
    as_documented = 0
    for case in run["cases"]:
        found = {}
        if case["verdict"] not in ("pass", "unsupported", "not-run"):
            for clause, what in FINDING.findall(case.get("note", "")):
                found.setdefault(clause, []).append(what)
        for clause in case["clauses"]:
            cell = cells.setdefault(clause, Cell(clause in recommended))
            if case["verdict"] == "pass":
                cell.passed += 1
            elif case["verdict"] == "unsupported":
                cell.unsupported += 1
            elif case["verdict"] != "not-run":
                cell.in_the_way |= set(found) - {clause} or {case["verdict"]}
        unexplained = False
        for clause, whats in found.items():
            cell = cells.setdefault(clause, Cell(clause in recommended))
            explained = [next((choice for choice in documented if choice.explains(clause, case["id"], what)), None) for what in whats]
            # A case is a note only if all that it shows is explained.
            what, choice = next(((what, choice) for what, choice in zip(whats, explained) if not choice), (whats[0], explained[0]))
            kind = cell.choices if choice else cell.contrived if is_excused(case) else cell.faults
            kind.append(Finding(case, what, choice, tuple(explained)))
            unexplained |= not choice
        as_documented += bool(found) and not unexplained
    for clause, cell in cells.items():
        for findings in cell.faults, cell.contrived, cell.choices:
            findings.sort(key=lambda finding: finding.size)
        cell.repro, cell.more_repros = adapter.reproductions.get(clause), adapter.more_reproductions.get(clause, [])
    testee = run["testee"]
    made = Column(adapter, testee["implementation"], day, run["summary"]["verdicts"], as_documented, cells)
    if is_own:
        require_needed(documented, [made], adapter.notes)
    return made


def require_needed(documented, columns, path):
    """Raises ValueError for a choice that explains no finding."""
    used = {choice for column in columns for cell in column.cells.values() for finding in cell.choices for choice in finding.explained_by}
    for choice in documented:
        if choice not in used:
            raise ValueError(f"{path.parent.parent.name}/{path.parent.name}/{path.name}: no finding about {choice.clause} needs the note {choice.note!r}")
