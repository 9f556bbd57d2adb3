"""The matrix as one self-contained page of HTML: a table for each door, and for each broken clause its case, its request, its reproduction.

The page is whole without its script, which only hides what is not asked for."""

import functools
import html
import json
from pathlib import Path

from . import cells
from .adapters import ROOT
from .cells import PLACE
from .markdown import cut
from .reproductions import printed
from .wire_pages import differing_table

HERE = Path(__file__).parent
STYLE, SCRIPT = (HERE / "matrix.css").read_text(), (HERE / "matrix.js").read_text()
# Longer texts of requests are cut: the smallest case seldom has one.
LONGEST = 400
# How many cases are named beside the smallest one.
MOST_NAMED = 20

LEGEND = [
    ("fail", "n", "FAIL n: n cases show that the clause is broken; a case is charged to one clause."),
    ("warn", "n", "warn n: likewise, but the clause is a recommendation (should)."),
    ("fail", "n*", "Documented: the framework documents all n as its choice. (m documented): it does so of m."),
    ("contrived", "C n", "n cases show it, all of them contrived (severity C)."),
    ("touched", "(n)", "touched n: n cases break it, too, and are charged to another clause."),
    ("pass", "✓", "pass: all cases that could be judged hold."),
    ("blocked", "by", "by X: its cases failed by clause X, so that it was not judged."),
    ("unsupported", "–", "unsupported: it cannot be seen at this door."),
    ("differs", "≠", "By an adapter and over the wire it is not the same; the wire counts."),
]
SEVERITIES = {
    "A": "Severity A: a thread is lost or wrong on ordinary input",
    "B": "Severity B: odd input that is really seen",
    "C": "Severity C: contrived input",
    "": "Broken by none",
}


def page(doors, differing, trends=()):
    """`differing` is told in a table of its own; `trends` are lines of HTML about several versions of one framework."""
    sides = [side for door in doors for side in door.sides]
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>Agent frameworks, clause by clause</title><style>\n{STYLE}</style></head><body>"
    yield '<a class="skip" href="#details">Skip the tables</a><header><h1>Agent frameworks, clause by clause</h1>'
    links = [f'<a href="#{door.id}">{door.title.lower()}</a> ({len(door.sides)})' for door in doors]
    yield f"<p>Profile <code>universal</code>: what any tool-calling agent owes its model, judged at {len(doors)} doors: {', '.join(links)}."
    yield f"Each row is a fault, the worst first; each column an implementation. Recorded until {max(side.day for side in sides)}.</p></header><main>"
    yield from filters(doors)
    yield '<details class="legend" open><summary>How to read a cell</summary><ul>'
    for state, sign, about in LEGEND:
        yield f'<li><span class="{state}">{sign}</span> {text(about)}</li>'
    yield "</ul></details>"
    for door in doors:
        yield from section(door)
        if door.id == "wire":
            yield '<section class="more" data-door="wire"><h3>Where an adapter and the wire differ</h3>'
            yield from differing_table(differing, text)
            yield "</section>"
    yield from trends
    yield '<h2 id="details">What was found</h2>'
    for door in doors:
        yield f'<section data-door="{door.id}"><h3>{text(door.title)}</h3>'
        for side in door.sides:
            yield from details(door, side)
        yield "</section>"
    yield '<h2 id="clauses">The clauses</h2><dl>'
    for id, level, about in clause_texts(doors):
        yield f'<dt id="{id}">{id} <small>{level}</small></dt><dd>{text(about)}</dd>'
    yield f"</dl></main><script>\n{SCRIPT}</script></body></html>"


def filters(doors):
    languages = sorted({side.language for door in doors for side in door.sides if side.language})
    clauses = sorted({clause for door in doors for clause in door.clauses()})
    yield '<form class="filter" hidden>'
    yield choice("door", "Door", {door.id: door.title for door in doors})
    yield choice("severity", "Severity", {severity: f"{severity}" for severity in "ABC"})
    yield choice("language", "Language", {language: language for language in languages})
    yield '<label>Clause <input id="clause" type="search" list="every-clause" placeholder="IDS"></label>'
    yield f'<datalist id="every-clause">{"".join(f"<option>{clause}</option>" for clause in clauses)}</datalist>'
    yield '<button type="reset">Show all</button> <output id="shown" for="door severity language clause"></output></form>'


def choice(id, label, options):
    listed = "".join(f'<option value="{text(value)}">{text(name)}</option>' for value, name in options.items())
    return f'<label>{label} <select id="{id}"><option value="">all</option>{listed}</select></label>'


def section(door):
    yield f'<section data-door="{door.id}"><h2 id="{door.id}">{text(door.title)}</h2><p>{text(door.about)}</p>'
    yield f'<table class="grid"><caption class="hidden">{text(door.title)}: clauses and implementations</caption><thead><tr><th scope="col">Clause</th>'
    for side in door.sides:
        yield f'<th scope="col" data-language="{text(side.language)}"><a href="#{door.anchor(side)}"><span>{text(side.id)} <small>{text(side.version)}</small></span></a></th>'
    yield "</tr></thead>"
    by_severity = {}
    for clause in door.clauses():
        by_severity.setdefault(door.severity(clause), []).append(clause)
    for severity, clauses in by_severity.items():
        yield f'<tbody><tr class="group"><th scope="rowgroup" colspan="{len(door.sides) + 1}">{SEVERITIES[severity]}</th></tr>'
        for clause in clauses:
            yield from row(door, clause)
        yield "</tbody>"
    yield "</table></section>"


def row(door, clause):
    recommended = " <small>should</small>" if clause in cells.recommendations() else ""
    yield f'<tr data-clause="{clause}" data-severity="{" ".join(door.severities(clause))}"><th scope="row"><a href="#{clause}">{cells.short(clause)}</a>{recommended}</th>'
    yield from (table_cell(door, side, clause) for side in door.sides)
    yield "</tr>"


def table_cell(door, side, clause):
    """A cell, short for who sees the table and whole for who does not, and on a card."""
    counted, difference = door.counted(side, clause), (side.id, clause) in door.different
    said, link = side.cell(clause).text, f"#{door.anchor(side, clause)}" if side.cell(clause).found else ""
    if difference:
        said, link = f"wire: {counted.text}; {said}", link or "#wire"
    if not said:
        return "<td></td>"
    short = f'<i aria-hidden="true">{sign(counted)}{"<sup>≠</sup>" if difference else ""}</i><b>{text(said)}</b>'
    severities = f' data-severity="{" ".join(counted.severities)}"' if counted.severities else ""
    shown = f'<a href="{link}">{short}</a>' if link else short
    return f'<td class="{counted.state}" title="{text(side.id)}"{severities}>{shown}</td>'


def sign(cell):
    """The text of a cell in as few characters as there is room for."""
    numbers = {"fail": len(cell.faults) or f"+{len(cell.beside)}", "warn": len(cell.faults) or f"+{len(cell.beside)}","contrived": f"C {len(cell.contrived)}", "touched": f"({len(cell.touched)})"}
    mark = "" if cell.undocumented or not cell.counting else "*"
    return f"{numbers.get(cell.state, {'pass': '✓', 'blocked': 'by', 'unsupported': '–'}.get(cell.state, ''))}{mark}"


def details(door, side):
    link = f'<a href="{text(side.url)}">{text(side.name)}</a>' if side.url else text(side.name)
    about = f": {text(side.about)}" if side.about else ""
    yield f'<div data-language="{text(side.language)}"><h4 id="{door.anchor(side)}">{text(side.id)}</h4><p>{link} {text(side.version)}, recorded on {side.day}{about}.</p>'
    for clause in door.clauses():
        if side.cell(clause).found:
            yield from one(door, side, clause, side.cell(clause))
    yield "</div>"


def one(door, side, clause, cell):
    first = cell.found[0]
    yield f'<details data-clause="{clause}" data-severity="{" ".join(cell.severities)}"><summary><span class="{cell.state}">{text(cell.text)}</span> {clause}: {text(cut(first.what))}</summary>'
    # The id is inside: a browser opens the details that hold the target of a link.
    why = f": {text(first.case['why'])}" if first.case.get("why") else ""
    yield f'<p id="{door.anchor(side, clause)}">The smallest case is <code>{text(first.case["id"])}</code>{why}</p>'
    for choice in dict.fromkeys(finding.choice for finding in cell.documented):
        link = f' (<a href="{text(choice.link)}">documented here</a>)' if choice.link else ""
        count = sum(finding.choice == choice for finding in cell.documented)
        yield f'<p class="choice">Documented choice ({count}): {text(choice.note)}{link}</p>'
    for label, said in side.evidence.get(clause, []):
        yield f"<p>{label}: <code>{text(said)}</code></p>"
    if side.column:
        yield from of_an_adapter(door, side.column, first, cell)
    elif door.id == "program":
        for title, body in bodies(first):
            yield f"<h5>{title}</h5><pre>{text(body)}</pre>"
    others = sorted(finding.case["id"] for finding in cell.found if finding is not first)
    if others:
        more = f", and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
        yield f"<p>Also in {', '.join(f'<code>{text(id)}</code>' for id in others[:MOST_NAMED])}{more}.</p>"
    yield "</details>"


def of_an_adapter(door, column, first, cell):
    """What was put to an adapter and what it did, and how that shows without threadspec."""
    yield f"<h5>The script</h5><pre>{text(laid_out(first.case['input']))}</pre>"
    if first.request is not None:
        yield f"<h5>The request</h5><pre>{text(pretty(first.request))}</pre>"
    elif door.id == "adapter":
        yield f"<h5>The reply</h5><pre>{text(laid_out(first.case['actual']))}</pre>"
    for repro in cell.repros:
        place = f"{column.folder.name}/repro/{repro.name}"
        yield f'<h5>Without threadspec</h5><p><a href="{place}"><code>{text(" ".join([place, *column.adapter.arguments]))}</code></a></p>'
        # Those of sessions are a page each.
        if door.id == "adapter":
            yield f"<pre>{text(printed(repro))}</pre>"


def bodies(finding):
    """The two bodies that show a finding, each with a title, as the judge reads them: the one before the request that it names, and that request."""
    actual = finding.case.get("actual", "{}")
    try:
        output = json.loads(actual).get("ok", {})
    except ValueError:
        # A long one is cut.
        yield "The beginning of all requests", actual
        return
    requests = output.get("requests", [])
    place = PLACE.search(finding.what)
    number = min(int(place[1]) if place else len(requests), len(requests))
    first = max(number - 1, 1)
    for at in dict.fromkeys((first, number) if number else ()):
        yield f"Request {at}", pretty(requests[at - 1])
    said = output.get("wire", {}).get("said", [])
    if number == first and said:
        yield "The answer to it", pretty(said[0])


def clause_texts(doors):
    """Each clause or rule that a row names: id, level, text."""
    known = {clause["id"]: (clause["level"], clause["text"]) for clause in cells.registry()} | {rule["id"]: ("rule of a model API", rule["text"]) for rule in rules()}
    for clause in dict.fromkeys(clause for door in doors for clause in sorted(door.clauses())):
        yield clause, *known[clause]


@functools.cache
def rules():
    return json.loads((ROOT / "golden/provider-rules.json").read_text())["rules"]


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
