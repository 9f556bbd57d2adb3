"""The gateways, which `../gateways` judges: their page, their table as a section of MATRIX.md, and their cells for matrix.html."""

import sys

from .adapters import HERE
from .cells import Cell, Finding

GATEWAYS = HERE.parent / "gateways"
sys.path.insert(0, str(GATEWAYS))

import judged
import page as pages

PAGE = GATEWAYS / "GATEWAYS.md"
LINK = "../gateways/GATEWAYS.md"
cells = judged.cells


def page(cells):
    return pages.page(cells, judged.reasons())


def summary(cells):
    return [*pages.summary(cells, judged.reasons())]


def known(cells):
    """The lines of each file of known failures."""
    why = judged.reasons()
    return [(cell.pair.known_failures, judged.known_failures(cell, why)) for cell in cells if judged.failing(cell.run)]


def section(page):
    """The rows of the page's first table, with links that lead to the page."""
    rows = []
    for line in page:
        if line.startswith("| "):
            rows.append(line.replace("](#", f"]({LINK}#"))
        elif line.startswith("|"):
            rows.append(line)
        elif rows:
            break
    yield from ["", "## Gateways", "", "What programs between an agent and its model change: each clause that is broken, in how many cases; *slanted*: only recommended."]
    yield from [f"[The page of gateways]({LINK}) has what each of them does, versions, and the command of each cell.", "", *rows]


def cell(kept):
    """A cell, as `table` keeps it."""
    found = {kind: [Finding({"id": id, "severity": severity, "input": ""}, kept.get("what", "")) for id, severity in kept[kind].items()] for kind in ("faults", "contrived", "touched")}
    return Cell(kept["recommended"], kept["passed"], kept["unsupported"], in_the_way=set(kept["inTheWay"]), **found)


def evidence(kept):
    """Where a clause is broken, and how to look at it."""
    yield "In", ", ".join(f"{pair} {count}" for pair, count in kept["pairs"].items())
    yield "Look", f"conformance/adapters/gateways/table --show {kept['pair']} {kept['case']}"
