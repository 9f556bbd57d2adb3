"""The verdicts over the wire: what the programs break in any of their modes, and where that differs from what the adapters show."""

import fnmatch
import json
import tomllib
from dataclasses import dataclass, field, replace

from . import cells
from .cells import Cell, Column, merged
from .clients import SDKS, WIRE, clients, recorded

# A verdict that says nothing of the clause, so that there is nothing to differ from.
SILENT = ("none", "unsupported", "touched")


@dataclass
class Program:
    """A program with its columns by mode."""

    name: str
    modes: dict[str, Column] = field(default_factory=dict)
    runs: dict[str, dict] = field(default_factory=dict)
    choices: list = field(default_factory=list)

    @property
    def column(self):
        return next(iter(self.modes.values()))

    @property
    def is_framework(self):
        return self.name not in SDKS

    def cell(self, clause):
        """What all modes together show of a clause: a case counts once, whatever the number of modes that it fails in."""
        return merged([column.cells[clause] for column in self.modes.values() if clause in column.cells])

    def judged_too(self, cell):
        """The cell without the faults of cases that were not recorded in any mode: of these nothing is known."""
        return replace(cell, faults=[fault for fault in cell.faults if fault.case["id"] in self.judged]) if self.runs else cell

    @property
    def judged(self):
        """The cases that were judged in one mode or more."""
        return {case["id"] for run in self.runs.values() for case in run["cases"] if case["verdict"] not in ("not-run", "unsupported")}

    @property
    def passed(self):
        """How many cases pass in each mode that they are applicable in, of how many: as the badge of all modes has it."""
        passed = {}
        for case in (case for run in self.runs.values() for case in run["cases"] if case["verdict"] != "unsupported"):
            passed[case["id"]] = passed.get(case["id"], True) and case["verdict"] == "pass"
        return f"{sum(passed.values())} of {len(passed)}"

    def modes_of(self, clause):
        """The modes that the clause is broken in."""
        return [mode for mode, column in self.modes.items() if clause in column.cells and column.cells[clause].faults]

    def again(self, clause):
        """The command that repeats the clearest case of a clause."""
        case = self.cell(clause).faults[0].case["id"]
        return next(column.adapter.again(case) for column in self.modes.values() if clause in column.cells and case in [fault.case["id"] for fault in column.cells[clause].faults])

    def broken(self):
        found = dict.fromkeys(clause for column in self.modes.values() for clause in column.cells)
        order = {clause["id"]: place for place, clause in enumerate(cells.clauses())}
        return sorted((clause for clause in found if self.cell(clause).faults), key=lambda clause: (order.get(clause, len(order)), clause))

    def like(self, adapter):
        """The program in the modes that are like an entry point of the framework, if there are several."""
        suffix = adapter.id.removeprefix(self.name)
        if suffix not in ("-generate", "-stream"):
            return self
        modes = {mode: column for mode, column in self.modes.items() if mode.endswith(":stream") == (suffix == "-stream")}
        return replace(self, modes=modes)


@dataclass(frozen=True)
class Reason:
    """Why an adapter and the wire differ on a clause."""

    clause: str
    why: str
    adapters: tuple = ("*",)
    # Which of the two shows the clause broken.
    broken: str = ""

    def explains(self, difference):
        fits = any(fnmatch.fnmatchcase(difference.adapter, glob) for glob in self.adapters)
        return fits and self.clause == difference.clause and self.broken == difference.broken


@dataclass(frozen=True)
class Difference:
    """A clause that an adapter and the wire judge differently; without `why`, nobody has said the reason."""

    clause: str
    adapter: str
    by_adapter: Cell
    over_wire: Cell
    why: str = ""

    @property
    def broken(self):
        return "wire" if self.over_wire.undocumented else "adapter"


def programs(judge, of=clients):
    """All programs with a recording. `judge` makes what a function makes of many arguments, in order; the function gets a way to judge a transcript."""
    by_folder = {}
    for client in of():
        by_folder.setdefault(client.folder, []).append(client)
    kept = [modes for modes in by_folder.values() if modes[0].recording.exists()]
    return [program(modes, days(modes[0].root), runs) for modes, runs in zip(kept, judge(judged_modes, kept))]


def days(root):
    """The days of the recordings of a folder."""
    path = root / "recordings/days.json"
    return json.loads(path.read_text()) if path.exists() else {}


def judged_modes(judge, modes):
    """The run files of a program, by the modes that are recorded."""
    transcripts = recorded(modes[0].recording)
    return {client.mode: judge(client.day, transcripts[client.mode]) for client in modes if client.mode in transcripts}


def program(modes, days, runs):
    folder, own, documented = modes[0].folder, cells.choices_in(modes[0].notes), cells.choices(modes[0])
    columns = {client.mode: cells.column(client, runs[client.mode], days[client.day], documented) for client in modes if client.mode in runs}
    cells.require_needed(own, columns.values(), modes[0].notes)
    return Program(folder.name, columns, runs, documented)


def unrecorded():
    return sorted({client.folder.name for client in clients()} - {client.folder.name for client in clients() if client.recording.exists()})


def known(found):
    """Each mode of a framework with what was judged in it: what its known failures are made from."""
    for program in found:
        for mode, column in program.modes.items():
            if program.is_framework:
                yield column.adapter, program.runs[mode]


def reasons(name="differences.toml"):
    path = WIRE / name
    return [Reason(**{**entry, "adapters": tuple(entry.get("adapters", ["*"]))}) for entry in tomllib.loads(path.read_text())["difference"]]


def differences(columns, found, why, prefixes=("AGENT-",)):
    """Where an adapter and the wire differ, by clauses of these names. Raises ValueError if a reason in `why` explains nothing."""
    by_name, used = {program.name: program for program in found}, set()
    for column in columns:
        program = by_name.get(column.folder.name)
        if program is None:
            continue
        program = program.like(column)
        for clause in cells.clauses(prefixes):
            by_adapter, over_wire = program.judged_too(column.cells.get(clause["id"], Cell())), program.cell(clause["id"])
            if by_adapter.state in SILENT or over_wire.state in SILENT or bool(by_adapter.undocumented) == bool(over_wire.undocumented):
                continue
            difference = Difference(clause["id"], column.id, by_adapter, over_wire)
            reason = next((reason for reason in why if reason.explains(difference)), None)
            used.add(reason)
            yield replace(difference, why=reason.why) if reason else difference
    if unused := [reason.why for reason in why if reason not in used]:
        raise ValueError(f"wire/*differences.toml: no difference needs the reason {unused[0]!r}")
