"""The gateways, whose pages `../gateways/table` writes: their table as a section of MATRIX.md, and their cells for matrix.html."""

import json

from .adapters import HERE
from .cells import Cell, Finding

PAGE = HERE.parent / "gateways/GATEWAYS.md"
CELLS = HERE.parent / "gateways/cells.json"
LINK = "../gateways/GATEWAYS.md"


def section(page=None):
    """The rows of the page's first table, with links that lead to the page."""
    text = PAGE.read_text() if page is None else page
    rows = []
    for line in text.split("\n"):
        if line.startswith("| "):
            rows.append(line.replace("](#", f"]({LINK}#"))
        elif line.startswith("|"):
            rows.append(line)
        elif rows:
            break
    yield from ["", "## Gateways", "", "What programs between an agent and its model change: each clause that is broken, in how many cases; *slanted*: only recommended."]
    yield from [f"[The page of gateways]({LINK}) has what each of them does, versions, and the command of each cell.", "", *rows]


def gateways():
    return json.loads(CELLS.read_text())


def cell(kept):
    """A cell, as `table` keeps it."""
    found = {kind: [Finding({"id": id, "severity": severity, "input": ""}, kept.get("what", "")) for id, severity in kept[kind].items()] for kind in ("faults", "contrived", "touched")}
    return Cell(kept["recommended"], kept["passed"], kept["unsupported"], in_the_way=set(kept["inTheWay"]), **found)


def evidence(kept):
    """Where a clause is broken, and how to look at it."""
    yield "In", ", ".join(f"{pair} {count}" for pair, count in kept["pairs"].items())
    yield "Look", f"conformance/adapters/gateways/table --show {kept['pair']} {kept['case']}"
