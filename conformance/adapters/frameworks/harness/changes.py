"""What changed since the recordings before, figure by figure, with a reason for each."""

import fnmatch
import json
import lzma
import tomllib
from dataclasses import dataclass

from .adapters import HERE
from .cells import Cell

PREVIOUS = HERE / "recordings/previous.json.xz"


@dataclass(frozen=True)
class Reason:
    """Why figures changed that the corpus does not explain."""

    clause: str
    why: str
    adapters: tuple = ("*",)

    def explains(self, clause, adapter):
        return fnmatch.fnmatchcase(clause, self.clause) and any(fnmatch.fnmatchcase(adapter, glob) for glob in self.adapters)


@dataclass
class Change:
    """A figure that is another than before; without `why`, nobody has said the reason."""

    adapter: str
    clause: str
    before: str
    after: str
    why: str


def reasons():
    entries = tomllib.loads((HERE / "changes.toml").read_text())["change"]
    return [Reason(**{**entry, "adapters": tuple(entry.get("adapters", ["*"]))}) for entry in entries]


def figures(columns):
    """Each cell's text, and the cases that are counted in it."""
    return {column.id: {clause: [cell.text, counted(cell)] for clause, cell in column.cells.items()} for column in columns}


def counted(cell):
    return sorted({finding.case["id"] for finding in cell.counting or cell.contrived})


def keep(columns, cases):
    """Makes today's figures those before, to be done ahead of new recordings."""
    kept = {"day": max(column.day for column in columns), "cases": sorted(cases), "adapters": figures(columns)}
    PREVIOUS.write_bytes(lzma.compress(json.dumps(kept).encode()))


def previous():
    return json.loads(lzma.decompress(PREVIOUS.read_bytes()))


def changes(columns, cases, before, why):
    """The changes of all figures. What is new, withdrawn or now contrived explains itself; all else must have a reason in `why`."""
    contrived = {(column.id, clause): {finding.case["id"] for finding in cell.contrived} for column in columns for clause, cell in column.cells.items()}
    for adapter, cells in figures(columns).items():
        old_cells = before["adapters"].get(adapter, {})
        for clause in sorted(cells.keys() | old_cells.keys()):
            (old, old_ids), (new, new_ids) = old_cells.get(clause, [Cell().text, []]), cells.get(clause, [Cell().text, []])
            if old == new or not (old_ids or new_ids):
                continue
            gained, lost = set(new_ids) - set(old_ids), set(old_ids) - set(new_ids)
            explained = {"new": gained - set(before["cases"]), "withdrawn": lost - set(cases), "contrived": lost & contrived.get((adapter, clause), set())}
            said = [f"{count(ids)} {what}" for what, ids in explained.items() if ids]
            is_another = {old.split(" ")[0], new.split(" ")[0]} in ({"FAIL", "note"}, {"warn", "note"}, {"FAIL", "warn"})
            is_open = not said or is_another or (gained | lost) - set().union(*explained.values())
            reason = next((reason.why for reason in why if reason.explains(clause, adapter)), "") if is_open else ""
            yield Change(adapter, clause, old or "–", new or "–", "" if is_open and not reason else "; ".join([*said, *([reason] if reason else [])]))


def count(cases):
    return "1 case is" if len(cases) == 1 else f"{len(cases)} cases are"


def section(found, day):
    yield f"\n## What changed since the recordings of {day}\n"
    yield "| clause | adapter | before | after | why |"
    yield "|---|---|---|---|---|"
    for change in sorted(found, key=lambda change: (change.clause, change.adapter)):
        yield f"| {change.clause} | {change.adapter} | {change.before} | {change.after} | {change.why or '**no reason is given**'} |"
