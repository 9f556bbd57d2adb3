"""The published programs as they are: PROGRAMS.md with each red verdict, and their table as a section of MATRIX.md."""

from collections import Counter

from .cells import KINDS
from .clients import PROGRAMS
from .html import bodies
from .markdown import plain
from .wire_pages import HEADS, rows, table, tally

PAGE = PROGRAMS / "PROGRAMS.md"
LINK = "../programs/PROGRAMS.md"
ABOUT = "Coding agents and chat clients as they are published, started from a shell by the recipes of `--program`. A case counts once, whatever the number of APIs that it fails in."
# The cases that a verdict is charged to.
CHARGED = KINDS[:2]


def worst_first(found):
    """The programs by the harm that they show: how many cases of severity A fail, then B, then C."""

    def harm(program):
        cases = {finding.case["id"]: finding.case.get("severity", "C") for clause in program.broken() for finding in program.cell(clause).faults}
        severities = Counter(cases.values())
        return [*(-severities[severity] for severity in "ABC"), program.name]

    return sorted(found, key=harm)


def section(found):
    if found:
        yield from ["", "## Programs", "", ABOUT, f"[The page of programs]({LINK}) has every red verdict with both bodies, and the command that repeats it.", ""]
        yield from table(HEADS, rows(found))


def page(found):
    """`found` are the programs, the worst first."""
    yield from ["# Programs as they are", "", ABOUT]
    yield from ["Each red verdict below has the two requests that show it, as the judge reads them, and the command that repeats it alone. `--bodies DIR` writes them as they went over the wire.", ""]
    yield from table(HEADS, ([f"[{name}](#{name.split()[0]})", *others] for name, *others in rows(found)))
    for program in found:
        yield from one(program)


def one(program):
    recipe = program.column.adapter.recipe
    yield from ["", f"## {program.name}", "", f"{recipe['about']} {program.column.version}, recorded on {max(column.day for column in program.modes.values())}; `threadspec explain {program.name}` prints the recipe.", ""]
    yield f"    {recipe['install']}"
    yield from ["", *(f"- Not tested: {what}. {why}" for what, why in recipe.get("cannot", {}).items())]
    for mode, column in program.modes.items():
        yield f"- {mode}: {tally(column)}"
        reasons = Counter(case.get("note", "") for case in program.runs[mode]["cases"] if case["verdict"] == "unsupported")
        yield from (f"  - unsupported, {count}: {plain(why)}" for why, count in reasons.most_common())
    for mode, column in program.modes.items():
        for clause, cell in column.cells.items():
            for finding in (finding for kind in CHARGED for finding in getattr(cell, kind)):
                yield from red(mode, column, clause, finding)


def red(mode, column, clause, finding):
    """A red verdict: what is wrong, the two bodies, and the command."""
    case = finding.case
    yield from ["", f"### {clause}, {mode}: {case['id']}", "", f"{case['verdict']}, {case['level']}, severity {case.get('severity', 'C')}: {plain(finding.what)}"]
    if case.get("why"):
        yield from ["", f"Why it matters: {plain(case['why'])}"]
    if finding.choice:
        yield from ["", f"A documented choice: {finding.choice.note} {finding.choice.link}".rstrip()]
    yield from ["", f"    {column.adapter.again(case['id'])}"]
    for title, body in bodies(finding):
        yield from ["", f"{title}:", "", *(f"    {line}" for line in body.split("\n"))]
