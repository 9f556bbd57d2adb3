"""The verdicts over the wire in Markdown, and in HTML where they differ from those of the adapters."""

from .cells import clauses
from .markdown import cut, plain

ABOUT = "The same frameworks with their own model clients, and the official SDKs with a loop of ours, judged by what they send"
COUNTED = "A case counts once, whatever the number of modes that it fails in; it passes if it does so in each mode. Where an adapter and the wire differ, the wire counts."
HEADS = ["program", "modes", "passed", "breaks", "WIRE clauses and provider rules"]
DIFFERING = ["clause", "adapter", "by the adapter", "over the wire", "why"]


def broken(program):
    """The clauses that a program breaks, each with its cell."""
    return [(clause.removeprefix("AGENT-"), program.cell(clause)) for clause in program.broken()]


def counts(program, is_agent):
    """The clauses that a program breaks, each with the number of cases: AGENT clauses, or all others."""
    is_wanted = {clause.removeprefix("AGENT-"): clause.startswith("AGENT-") == is_agent for clause in program.broken()}
    return ", ".join(f"{name} {len(cell.faults)}{cell.mark}" for name, cell in broken(program) if is_wanted[name])


def modes(program):
    """The APIs of a program; one that is not recorded both plain and streaming says which."""
    apis = {}
    for mode in program.modes:
        api, _, stream = mode.partition(":")
        apis.setdefault(api, []).append(stream or "plain")
    return ", ".join(api if len(kinds) == 2 else f"{api} ({kinds[0]})" for api, kinds in apis.items())


def rows(found):
    for program in found:
        yield [f"{program.name} {program.column.version}", modes(program), program.passed, counts(program, True), counts(program, False)]


def differing_rows(differing):
    order = [clause["id"] for clause in clauses()]
    for one in sorted(differing, key=lambda one: (order.index(one.clause), one.adapter)):
        yield [one.clause, one.adapter, one.by_adapter.text, one.over_wire.text, one.why or "nobody has said the reason"]


def shown(program):
    """What is shown of a program: what no adapter can see, and what the SDKs break."""
    for clause in program.broken():
        if not clause.startswith("AGENT-") or not program.is_framework:
            cell = program.cell(clause)
            first = cell.faults[0]
            yield clause, cell, first, program.modes_of(clause)


def markdown(found, differing, unrecorded):
    day = max(column.day for program in found for column in program.modes.values())
    yield f"\n## Over the wire\n\n{ABOUT}: [`wire/run`](../wire/README.md) `--record`, until {day}. {COUNTED}\n"
    yield from table(HEADS, rows(found))
    if unrecorded:
        yield f"\nNot recorded yet: {', '.join(unrecorded)}."
    yield "\n### Where an adapter and the wire differ\n"
    yield from table(DIFFERING, differing_rows(differing))
    yield "\n### What only the wire shows\n"
    for program in found:
        for clause, cell, first, broken_in in shown(program):
            count = f"{len(cell.faults)} case{'s' if len(cell.faults) > 1 else ''}"
            yield f"- **{program.name}, {clause}**, {'a recommendation, ' if cell.recommended else ''}shown by {count} ({', '.join(broken_in)}); the smallest is `{first.case['id']}`: {plain(cut(first.what))}"
    yield "\n### Cases in each mode\n"
    yield from table(["program", "mode", "cases"], ([program.name, mode, tally(column)] for program in found for mode, column in program.modes.items()))


def tally(column):
    return ", ".join(f"{count} {verdict}" for verdict, count in sorted(column.counts.items()) if count)


def table(heads, body):
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in body:
        yield f"| {' | '.join(row)} |"


def differing_table(differing, text):
    """Where an adapter and the wire differ, in HTML. `text` writes a text as HTML."""
    return html_table("Where an adapter and the wire differ", DIFFERING, differing_rows(differing), text)


def html_table(name, heads, body, text):
    yield f'<table class="words"><caption class="hidden">{name}</caption><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead><tbody>"
    for first, *others in body:
        yield f'<tr data-clause="{text(first)}"><th scope="row">{text(first)}</th>' + "".join(f'<td title="{head}">{text(cell)}</td>' for head, cell in zip(heads[1:], others)) + "</tr>"
    yield "</tbody></table>"
