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
FINDING = re.compile(r"^((?:AGENT|SESSION|WIRE|GATE|OAI|ANT)-[A-Z0-9-]+): (.*)", re.MULTILINE)
# What was found beside a case.
BESIDE = re.compile(f"^beside {FINDING.pattern[1:]}", re.MULTILINE)
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
    # The framework's choice, if it documents all that the case shows of the clause.
    choice: Choice | None = None
    # What explains each part of it.
    explained_by: tuple = ()

    @property
    def size(self):
        """What sorts the clearest first: what nobody documents, and of that the smallest."""
        return self.choice is not None, len(self.case.get("input", "")), self.case["id"]

    @property
    def request(self):
        """The request that the judge names, as the framework made it; None if there is none to show."""
        place = PLACE.search(self.what)
        try:
            return json.loads(self.case["actual"])["ok"]["requests"][int(place[1]) - 1]
        except (KeyError, IndexError, TypeError, ValueError):
            return None


KINDS = ("faults", "contrived", "touched", "beside")


@dataclass
class Cell:
    """What an adapter's run shows about a clause. A failed case is charged to one clause."""

    recommended: bool = False
    passed: int = 0
    unsupported: int = 0
    # The cases that are charged to it, and those of them that severity C excuses.
    faults: list = field(default_factory=list)
    contrived: list = field(default_factory=list)
    # Those that break it as well, and are charged to another clause.
    touched: list = field(default_factory=list)
    # Those beside which it is broken, if that counts. They accuse where no case is charged to it, once a reproduction shows the fault.
    beside: list = field(default_factory=list)
    in_the_way: set = field(default_factory=set)
    repro: Path | None = None
    # Reproductions of other faults of the clause.
    more_repros: list = field(default_factory=list)

    @property
    def found(self):
        return self.faults + self.contrived or self.counting

    @property
    def counting(self):
        return self.faults or (self.beside if self.repro else [])

    @property
    def documented(self):
        """The faults that the framework documents as its choice."""
        return [finding for finding in self.counting if finding.choice]

    @property
    def undocumented(self):
        return [finding for finding in self.counting if not finding.choice]

    @property
    def state(self):
        if self.counting:
            return "warn" if self.recommended else "fail"
        if self.contrived:
            return "contrived"
        if self.touched:
            return "touched"
        if self.passed:
            return "pass"
        if self.in_the_way:
            return "blocked"
        return "unsupported" if self.unsupported else "none"

    @property
    def severities(self):
        """The severities of the cases that count, the worst first."""
        return sorted({finding.case.get("severity") or "C" for finding in self.counting})

    @property
    def repros(self):
        return [*([self.repro] if self.repro else []), *self.more_repros]

    @property
    def mark(self):
        """What stands beside the number of faults if some are documented as a choice, or all."""
        documented = len(self.documented)
        return "" if not documented else " (documented)" if documented == len(self.counting) else f" ({documented} documented)"

    @property
    def number(self):
        """How many cases fail, or beside how many it is broken."""
        return str(len(self.faults)) if self.faults or not self.beside else f"beside {len(self.beside)}"

    @property
    def text(self):
        blocked = "by " + ", ".join(sorted(short(clause) for clause in self.in_the_way))
        numbers = {"fail": f"FAIL {self.number}{self.mark}", "warn": f"warn {self.number}{self.mark}", "contrived": f"C {len(self.contrived)}", "touched": f"touched {len(self.touched)}", "pass": f"pass ({self.number})" if self.beside else "pass"}
        return {**numbers, "blocked": blocked, "none": ""}.get(self.state, self.state)


def merged(cells):
    """One cell of several, in which a case counts once. What is broken in one of them is broken."""
    whole = Cell(any(cell.recommended for cell in cells), max((cell.passed for cell in cells), default=0), max((cell.unsupported for cell in cells), default=0))
    for kind in KINDS:
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
    return clause.removeprefix("AGENT-").removeprefix("SESSION-").removeprefix("GATE-")


def choices(adapter):
    """What the framework documents as its choice, in all files that count for the adapter."""
    return [choice for path in adapter.all_notes for choice in choices_in(path)]


def choices_in(path):
    return [Choice(**entry) for entry in tomllib.loads(path.read_text())["choice"]] if path.exists() else []


def unshown(columns):
    """The cells that accuse without a reproduction."""
    accused = ((column, clause) for column in columns for clause, cell in column.cells.items() if not cell.repro and any(not finding.choice for finding in cell.found))
    return sorted(f"{column.id} {clause}" for column, clause in accused)


def is_excused(case):
    """Whether a failed case does not count, since what it shows is contrived."""
    return case["verdict"] == "fail" and case.get("severity") == "C" and case["level"] == "must" and not case["counts"]


def finding(documented, case, clause):
    """What a failed case shows of a clause; None if it only stands in the way of it."""
    whats = [what for named, what in FINDING.findall(case.get("note", "")) if named == clause]
    if not whats and clause == case["charged"]:
        # A reply that cannot be read, or none.
        whats = [case.get("note", "").split("\n")[0] or case["verdict"]]
    return as_explained(documented, case, clause, whats) if whats else None


def as_explained(documented, case, clause, whats):
    """What a case shows of a clause, with the choices that explain it."""
    explained = [next((choice for choice in documented if choice.explains(clause, case["id"], what)), None) for what in whats]
    # A case is as documented only if all that it shows is explained.
    what, choice = next(((what, choice) for what, choice in zip(whats, explained) if not choice), (whats[0], explained[0]))
    return Finding(case, what, choice, tuple(explained))


def column(adapter, run, day, documented=None):
    """What a run file says of each clause. `documented` are the choices that count, if they are not those of the adapter."""
    cells, recommended = {clause["id"]: Cell(clause["level"] == "should") for clause in clauses()}, recommendations()
    is_own = documented is None
    documented = choices(adapter) if is_own else documented
    as_documented = 0

    def cell(clause):
        return cells.setdefault(clause, Cell(clause in recommended))

    for case in run["cases"]:
        # A case that counts explains what was found beside it.
        if not case["counts"] and case.get("severity") != "C":
            for clause in case.get("beside", []):
                whats = [what for named, what in BESIDE.findall(case["note"]) if named == clause]
                cell(clause).beside.append(as_explained(documented, case, clause, whats))
        if "charged" not in case:
            for clause in case["clauses"]:
                cell(clause).passed += case["verdict"] == "pass"
                cell(clause).unsupported += case["verdict"] == "unsupported"
            continue
        shown = finding(documented, case, case["charged"])
        own = cell(case["charged"])
        (own.contrived if is_excused(case) else own.faults).append(shown)
        as_documented += bool(shown.choice)
        for clause in case.get("touched", []):
            if also := finding(documented, case, clause):
                cell(clause).touched.append(also)
            else:
                cell(clause).in_the_way.add(case["charged"])
    require_equal(run, cells)
    for clause, made in cells.items():
        for kind in KINDS:
            getattr(made, kind).sort(key=lambda finding: finding.size)
        made.repro, made.more_repros = adapter.reproductions.get(clause), adapter.more_reproductions.get(clause, [])
    testee = run["testee"]
    made = Column(adapter, testee["implementation"], day, run["summary"]["verdicts"], as_documented, cells)
    if is_own:
        require_needed(documented, [made], adapter.notes)
    return made


def require_equal(run, cells):
    """Raises ValueError if cells say something else than the run's own table of clauses."""
    table = {row.pop("clause"): row for row in map(dict, run["summary"]["clauses"])}
    for clause, cell in cells.items():
        row = table.get(clause, {})
        own = [row.get(kind, 0) for kind in ("failed", "excused", "passed", "unsupported")]
        if own != [len(cell.faults), len(cell.contrived), cell.passed, cell.unsupported]:
            raise ValueError(f"{run['testee']['implementation']['name']}, {clause}: the cell says {cell.text!r}, and the run's own table {row}")


def require_needed(documented, columns, path):
    """Raises ValueError for a choice that explains no finding."""
    findings = (finding for column in columns for cell in column.cells.values() for kind in KINDS for finding in getattr(cell, kind))
    used = {choice for finding in findings for choice in finding.explained_by}
    for choice in documented:
        if choice not in used:
            raise ValueError(f"{path.parent.parent.name}/{path.parent.name}/{path.name}: no finding about {choice.clause} needs the note {choice.note!r}")
