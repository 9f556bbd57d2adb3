"""The matrix in Markdown: the page beside `matrix`."""

import re

from .cells import Cell

LONGEST = 240


def table(columns, clauses, differing=()):
    wire = {(difference.adapter, difference.clause): difference.over_wire for difference in differing}
    yield "| clause | " + " | ".join(f"{column.id} {column.version}" for column in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for clause in clauses:
        cells = [column.cells.get(clause["id"], Cell()) for column in columns]
        texts = [f"[{cell.text}](#{column.id})" if cell.found else cell.text for column, cell in zip(columns, cells)]
        # What counts stands first.
        texts = [f"[wire: {wire[column.id, clause['id']].text}](#over-the-wire); {said}" if (column.id, clause["id"]) in wire else said for column, said in zip(columns, texts)]
        yield f"| {clause['id']}{' (should)' if clause['level'] == 'should' else ''} | " + " | ".join(texts) + " |"


def page(columns, clauses, differing):
    yield f"# Faults of agent frameworks, clause by clause\n\nMade by `matrix --pages` from the recordings of {max(column.day for column in columns)}.\n"
    yield "`FAIL n`: n cases show that the clause is broken; a case is charged to one clause. `warn n`: likewise, but the clause is a recommendation (should). `(documented)`, `(m documented)`: the framework documents all of that as its choice, or m cases. `C n`: n cases show it, all of them contrived (severity C)."
    yield "`touched n`: n cases break it, too, and are charged to another clause. `pass`: all cases that could be judged hold. `by X`: its cases failed by clause X, so that it was not judged. `unsupported`: the adapter cannot see it. `wire: …; …`: [over the wire](#over-the-wire) it is otherwise, and that counts."
    yield "[matrix.html](matrix.html) has the requests and the reproductions as well. [FRAMEWORKS.md](FRAMEWORKS.md) explains the adapters, and where faults are in a framework's source.\n"
    yield from table(columns, clauses, differing)
    for column in columns:
        yield from details(column, clauses)


def details(column, clauses):
    yield f"\n## {column.id}\n"
    yield f"{column.name} {column.version}, recorded on {column.day}.\n"
    found = False
    for clause in clauses:
        cell = column.cells.get(clause["id"], Cell())
        for findings, kind in (cell.undocumented, "shown by"), (cell.contrived, "contrived, shown by"), (cell.documented, "a documented choice in"):
            if findings:
                found, first = True, findings[0]
                cases = "1 case" if len(findings) == 1 else f"{len(findings)} cases"
                yield f"- **{clause['id']}**, {kind} {cases}; the smallest is `{first.case['id']}`: {plain(cut(first.what))}"
                if first.choice:
                    yield f"  - {first.choice.note}{' (' + first.choice.link + ')' if first.choice.link else ''}"
        if cell.repros and cell.found:
            yield f"  - Without threadspec: {', '.join(f'[{repro.name}]({column.folder.name}/repro/{repro.name})' for repro in cell.repros)}"
    if not found:
        yield "Nothing was found."


def cut(text):
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"


def plain(text):
    """A text that Markdown shows as it is."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
