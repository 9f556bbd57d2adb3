"""The page of sessions in Markdown: which framework loses threads between runs, and how; the worst first."""

from .cells import Cell, clauses, short
from .markdown import details, table

PREFIXES = ("SESSION-", "AGENT-")


def page(columns, tried=(), programs=(), differing=()):
    """`columns` are those of the session adapters, `tried` the frameworks without one: (folder, why, link); `programs` play sessions over the wire, and `differing` says where that shows something else."""
    columns = sorted(columns, key=badness)
    # The clauses of a single run only where one is broken: they have a page of their own.
    shown = [clause for clause in clauses(PREFIXES) if clause["id"].startswith("SESSION-") or any(broken(column, clause) for column in columns)]
    yield "# Threads that frameworks lose or break between runs\n"
    yield "Made by `matrix --pages` from the recordings of op `session`. Cells are as on [MATRIX.md](MATRIX.md). Worst first: by the cases of severity A and B that fail, then by the warnings."
    yield "A framework is judged by the features that it has: `judged` counts the cases that ran against it. [FRAMEWORKS.md](FRAMEWORKS.md) lists the features that it lacks, with the pages.\n"
    yield "| framework | loses or breaks | recommendations | judged |"
    yield "|---|---|---|--:|"
    for column in columns:
        cells = [(short(clause["id"]), column.cells.get(clause["id"], Cell())) for clause in shown]
        broken_ones = [", ".join(f"{name} {cell.number}{cell.mark}" for name, cell in cells if cell.state == state) for state in ("fail", "warn")]
        judged = sum(count for verdict, count in column.counts.items() if verdict not in ("unsupported", "not-run"))
        yield f"| [{column.id}](#{column.id}) {column.version} | " + " | ".join(broken_ones) + f" | {judged} of {sum(column.counts.values()) - column.counts.get('not-run', 0)} |"
    yield ""
    yield from table(columns, shown)
    for column in columns:
        yield from details(column, shown)
    yield from over_wire(programs, differing)
    if tried:
        yield "## Tried\n"
        yield "Frameworks of the matrix that keep no thread from run to run.\n"
        yield from (f"- [{folder}](FRAMEWORKS.md#{folder}): {why} ({link})" for folder, why, link in tried)
        yield ""


def over_wire(programs, differing):
    """The verdicts of the programs over the wire, and why they differ from those of the adapters."""
    if not programs:
        return
    yield "\n## Over the wire\n"
    yield "The same threads with the frameworks' own model clients, judged by what they send (`verify --provider API --op session`). A case counts once, whatever the number of APIs that it fails on.\n"
    yield "| program | APIs | breaks | judged |"
    yield "|---|---|---|--:|"
    for program in programs:
        broken_ones = ", ".join(f"{short(clause)} {program.cell(clause).number}{program.cell(clause).mark}" for clause in program.broken())
        yield f"| {program.name} {program.column.version} | {', '.join(program.modes)} | {broken_ones} | {len(program.judged)} |"
    yield ""
    if differing:
        yield "Where one door shows a clause broken and the other does not:\n"
        yield "| clause | framework | by the adapter | over the wire | why |"
        yield "|---|---|---|---|---|"
        for one in differing:
            yield f"| {one.clause} | {one.adapter} | {one.by_adapter.text} | {one.over_wire.text} | {one.why or 'nobody has said the reason'} |"
        yield ""
    else:
        yield "By no clause of sessions does one door show a fault that the other does not, in the cases that were recorded at both. What a provider"
        yield "alone refuses, and what the tools are declared as, only the wire shows.\n"


def broken(column, clause):
    return column.cells.get(clause["id"], Cell()).found


def badness(column):
    """What sorts the worst first: the failing cases, then the warnings, then the name."""
    count = {state: sum(len(cell.counting) for cell in column.cells.values() if cell.state == state) for state in ("fail", "warn")}
    return -count["fail"], -count["warn"], column.id
