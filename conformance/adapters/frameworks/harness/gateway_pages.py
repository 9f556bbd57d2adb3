"""The table of gateways, which `../gateways/table` writes, as a section of MATRIX.md."""

from .adapters import HERE

PAGE = HERE.parent / "gateways/GATEWAYS.md"
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
