"""The matrix as one self-contained page of HTML: the table, and for each failing cell its case, its request, its reproduction."""

import html
import json
from pathlib import Path

from .cells import Cell
from .markdown import cut

STYLE = (Path(__file__).parent / "matrix.css").read_text()
# Longer texts of requests are cut: the smallest case seldom has one.
LONGEST = 400


def page(columns, clauses, differing, over_wire):
    wire = {(difference.adapter, difference.clause): difference.over_wire for difference in differing}
    day = max(column.day for column in columns)
    states = [column.cells.get(clause["id"], Cell()).state for column in columns for clause in clauses]
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Agent frameworks, clause by clause</title><style>\n{STYLE}</style></head><body>"
    yield '<a class="skip" href="#details">Skip the table</a><header><h1>Agent frameworks, clause by clause</h1>'
    yield f"<p>Profile <code>universal</code>: what any tool-calling agent owes its model. {len(columns)} adapters, {len(clauses)} clauses, {states.count('fail')} failing cells and {states.count('warn')} warnings; recorded on {day}.</p></header><main>"
    yield '<ul class="legend">'
    for state, name, about in LEGEND:
        yield f'<li><span class="{state}">{name}</span> {about}</li>'
    yield "</ul>"
    yield '<div class="scroll" tabindex="0" role="region" aria-label="Clauses and frameworks"><table><thead><tr><th scope="col">Clause</th>'
    yield from (f'<th scope="col"><a href="#{column.id}">{text(column.id)}</a><br><small>{text(column.version)}</small></th>' for column in columns)
    yield "</tr></thead><tbody>"
    for clause in clauses:
        level = " <small>should</small>" if clause["level"] == "should" else ""
        yield f'<tr><th scope="row"><a href="#{clause["id"]}">{clause["id"].removeprefix("AGENT-")}</a>{level}</th>'
        yield from (table_cell(column, clause["id"], wire.get((column.id, clause["id"]))) for column in columns)
        yield "</tr>"
    yield "</tbody></table></div>"
    yield from over_wire
    yield '<h2 id="details">What was found</h2>'
    for column in columns:
        yield from details(column, clauses)
    yield "<h2>The clauses</h2><dl>"
    for clause in clauses:
        yield f'<dt id="{clause["id"]}">{clause["id"]} <small>{clause["level"]}</small></dt><dd>{text(clause["text"])}</dd>'
    yield "</dl></main></body></html>"


LEGEND = [
    ("fail", "FAIL n", "n cases show that the clause is broken; a case is charged to one clause."),
    ("warn", "warn n", "Likewise, but the clause is a recommendation (should)."),
    ("note", "(m documented)", "The framework documents what m of these cases show as its choice; without a number, all of it."),
    ("contrived", "C n", "n cases show it, all of them contrived (severity C)."),
    ("touched", "touched n", "n cases break it, too, and are charged to another clause."),
    ("pass", "pass", "All cases that could be judged hold."),
    ("blocked", "by X", "Its cases failed by clause X, so that it was not judged."),
    ("unsupported", "unsupported", "The adapter cannot see it."),
]


def table_cell(column, clause, over_wire=None):
    cell = column.cells.get(clause, Cell())
    shown = text(cell.text)
    if cell.found:
        shown = f'<a href="#{column.id}-{clause}">{shown}</a>'
    if over_wire:
        return f'<td class="{over_wire.state}"><a href="#wire">wire: {text(over_wire.text)}</a>; {shown}</td>'
    return f'<td class="{cell.state}">{shown}</td>'


def details(column, clauses):
    url = column.implementation.get("url", "")
    link = f'<a href="{text(url)}">{text(column.name)}</a>' if url else text(column.name)
    yield f'<section><h3 id="{column.id}">{text(column.id)}</h3><p>{link} {text(column.version)}, recorded on {column.day}: '
    yield f"{', '.join(tally(column))}.</p>"
    for clause in clauses:
        cell = column.cells.get(clause["id"], Cell())
        if cell.found:
            yield from one(column, clause["id"], cell)
    yield "</section>"


def tally(column):
    """How often each verdict was given."""
    for verdict, count in sorted(column.counts.items()):
        yield f"{count} {verdict}{f' ({column.documented} as documented)' if verdict == 'fail' and column.documented else ''}"


def one(column, clause, cell):
    first = cell.found[0]
    yield f'<details><summary><span class="{cell.state}">{text(cell.text)}</span> {clause}: {text(cut(first.what))}</summary>'
    # The id is inside: a browser opens the details that hold the target of a link.
    yield f'<p id="{column.id}-{clause}">The smallest case is <code>{text(first.case["id"])}</code>: {text(first.case["why"])}</p>'
    for choice in dict.fromkeys(finding.choice for finding in cell.documented):
        link = f' (<a href="{text(choice.link)}">documented here</a>)' if choice.link else ""
        count = sum(finding.choice == choice for finding in cell.documented)
        yield f'<p class="choice">Documented choice ({count}): {text(choice.note)}{link}</p>'
    yield f"<h4>The script</h4><pre>{text(laid_out(first.case['input']))}</pre>"
    if first.request is not None:
        yield f"<h4>The request</h4><pre>{text(pretty(first.request))}</pre>"
    else:
        yield f"<h4>The reply</h4><pre>{text(laid_out(first.case['actual']))}</pre>"
    for repro in cell.repros:
        yield f"<h4>Without threadspec</h4><p><code>{text(' '.join([f'{column.folder.name}/repro/{repro.name}', *column.adapter.arguments]))}</code></p><pre>{text(repro.read_text())}</pre>"
    others = sorted(finding.case["id"] for finding in cell.found if finding is not first)
    if others:
        yield f"<p>Also in {', '.join(f'<code>{text(id)}</code>' for id in others)}.</p>"
    yield "</details>"


def laid_out(json_text):
    """What a run file holds of an input or a reply; a long one is cut, and so is no JSON any more."""
    try:
        return pretty(json.loads(json_text))
    except ValueError:
        return cut(json_text)


def pretty(value):
    """JSON, a message or a member of the script on each line."""
    if isinstance(value, dict):
        return "{" + ",\n ".join(f"{json.dumps(name)}: {lines(member)}" for name, member in value.items()) + "}"
    return lines(value)


def lines(value):
    value = shortened(value)
    if isinstance(value, list) and len(value) > 1:
        return "[\n  " + ",\n  ".join(compact(element) for element in value) + "]"
    return compact(value)


def shortened(value):
    if isinstance(value, str) and len(value) > LONGEST:
        return f"{value[:LONGEST]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [shortened(element) for element in value]
    return {name: shortened(member) for name, member in value.items()} if isinstance(value, dict) else value


def compact(value):
    """JSON with its characters as they are, but for those that no file holds or no reader sees."""
    written = json.dumps(value, ensure_ascii=False)
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in written)


def text(value):
    return html.escape(value)
