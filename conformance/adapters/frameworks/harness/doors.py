"""The verdicts by the door that they were found at, in one form: what an adapter hears, what is seen over the wire, sessions, gateways, programs."""

from dataclasses import dataclass, field

from . import cells, gateway_pages, program_pages, wire_pages
from .cells import Cell


@dataclass
class Side:
    """What one implementation shows at a door."""

    id: str
    name: str
    version: str
    language: str
    day: str
    cells: dict
    url: str = ""
    # What is said of it in a line.
    about: str = ""
    # More lines of evidence for a broken clause, as (label, text), where there is no request or script to show.
    evidence: dict = field(default_factory=dict)
    # Its column, if it is one adapter's.
    column: object = None

    def cell(self, clause):
        return self.cells.get(clause, Cell())


@dataclass
class Door:
    """A door, with all that was judged at it."""

    id: str
    title: str
    about: str
    sides: list
    prefixes: tuple = ()
    # Where the wire shows something else, by side and clause.
    different: dict = field(default_factory=dict)

    def counted(self, side, clause):
        """The cell that counts: that over the wire, where the two differ."""
        difference = self.different.get((side.id, clause))
        return difference.over_wire if difference else side.cell(clause)

    def anchor(self, side, clause=""):
        return "-".join(part for part in ("" if self.id == "adapter" else self.id, side.id, clause) if part)

    def clauses(self):
        """All clauses of the door, the worst first: by severity, duties before recommendations, then by how many break them and in how many cases."""
        known = {clause["id"]: place for place, clause in enumerate(cells.clauses(self.prefixes))}
        found = dict.fromkeys([*known, *(clause for side in self.sides for clause, cell in side.cells.items() if cell.faults or cell.found)])

        def harm(clause):
            faulty = [cell for cell in (self.counted(side, clause) for side in self.sides) if cell.faults]
            severity = self.severity(clause) or "D"
            return severity, any(cell.recommended for cell in faulty), -len(faulty), -sum(len(cell.faults) for cell in faulty), known.get(clause, len(known)), clause

        return sorted(found, key=harm)

    def severity(self, clause):
        """The worst severity of a case that is charged to the clause and counts; nothing if no case is."""
        return min(self.severities(clause), default="")

    def severities(self, clause):
        return sorted({severity for side in self.sides for severity in self.counted(side, clause).severities})


def doors(columns, programs, of_sessions, gateways, shipped, differing=()):
    """All doors. `gateways` are as `../gateways/table` keeps them; `shipped` are programs as they are; `differing` says where an adapter and the wire are not the same."""
    different = {(difference.adapter, difference.clause): difference for difference in differing}
    return [
        Door("adapter", "By an adapter", "The framework's own loop, with a scripted model at its own model interface.", [side(column) for column in columns], ("AGENT-",), different),
        Door("wire", "Over the wire", f"{wire_pages.ABOUT}. {wire_pages.COUNTED}", [over_wire(program) for program in programs], ("AGENT-", "WIRE-")),
        Door("session", "Sessions", "Several runs on one thread, on the framework's own memory, with kills, limits, approvals and compaction between them.", [side(column) for column in of_sessions], ("SESSION-",)),
        Door("gateway", "Gateways", "Published programs between an agent and its model. A case counts once, whatever the number of pairs of APIs that it fails in.", [through(gateway) for gateway in gateways], ("GATE-",)),
        *([Door("program", "Programs", program_pages.ABOUT, [over_wire(program) for program in shipped], ("AGENT-", "WIRE-"))] if shipped else []),
    ]


def side(column):
    tally = ", ".join(f"{count} {verdict}{f' ({column.documented} as documented)' if verdict == 'fail' and column.documented else ''}" for verdict, count in sorted(column.counts.items()))
    return Side(column.id, column.name, column.version, column.implementation.get("language", ""), column.day, column.cells, column.implementation.get("url", ""), tally, column=column)


def over_wire(program):
    column = program.column
    found = dict.fromkeys(clause for mode in program.modes.values() for clause in mode.cells)
    day = max(mode.day for mode in program.modes.values())
    merged = {clause: program.cell(clause) for clause in found}
    evidence = {clause: [("In", ", ".join(program.modes_of(clause))), ("Again", program.again(clause))] for clause, cell in merged.items() if cell.faults}
    return Side(program.name, program.name, column.version, column.implementation.get("language", ""), day, merged, column.implementation.get("url", ""), f"{wire_pages.modes(program)}; {program.passed} cases pass", evidence)


def through(gateway):
    """A gateway, all its pairs together."""
    made = {clause: gateway_pages.cell(kept) for clause, kept in gateway["cells"].items()}
    evidence = {clause: list(gateway_pages.evidence(kept)) for clause, kept in gateway["cells"].items() if "pairs" in kept}
    return Side(gateway["id"], gateway["name"], gateway["version"], gateway["language"], gateway["day"], made, f"{gateway_pages.LINK}#{gateway['id']}", evidence=evidence)
