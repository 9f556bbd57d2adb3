"""Two runs of one framework compared case by case: what was mended, what broke, what fails for another reason than before."""

import re
from dataclasses import dataclass, field

from . import cells
from .cells import Cell, choices, clauses, is_excused, short
from .markdown import plain

MENDED, BROKE, OTHERWISE = "mended", "broke", "otherwise"


@dataclass
class Step:
    """What changed between two runs, in the cases that were put to both."""

    before: str
    after: str
    # By clause, the cases that were charged to it and pass, and those that passed and are charged to it.
    mended: dict = field(default_factory=dict)
    broke: dict = field(default_factory=dict)
    # By what was said before and what is said now, all other cases whose verdict is another.
    otherwise: dict = field(default_factory=dict)
    common: int = 0

    @property
    def changed(self):
        return bool(self.mended or self.broke or self.otherwise)

    def lines(self):
        """What changed, in words: a kind, and each of its clauses with its number of cases and one of them."""
        for kind, found in ((MENDED, self.mended), (BROKE, self.broke)):
            if found:
                yield kind, [f"{short(clause)} {len(cases)} (`{cases[0]}`)" for clause, cases in sorted(found.items())]
        if self.otherwise:
            yield OTHERWISE, [f"{short(before)} → {short(after)} {len(cases)} (`{cases[0]}`)" for (before, after), cases in sorted(self.otherwise.items())]


def step(before, after):
    """The step from one run file to another. Cases that one of them was not put are left out: of these nothing is known."""
    said = {case["id"]: said_of(case) for case in before["cases"] if case["verdict"] != "not-run"}
    made = Step(version(before), version(after))
    for case in sorted(after["cases"], key=lambda case: (len(case.get("input", "")), case["id"])):
        if case["verdict"] == "not-run" or case["id"] not in said:
            continue
        made.common += 1
        old, new = said[case["id"]], said_of(case)
        if old == new:
            continue
        if new == "pass" and is_clause(old):
            made.mended.setdefault(old, []).append(case["id"])
        elif old == "pass" and is_clause(new):
            made.broke.setdefault(new, []).append(case["id"])
        else:
            made.otherwise.setdefault((old, new), []).append(case["id"])
    return made


def said_of(case):
    """The clause that a case is charged to, if it counts; its verdict otherwise."""
    if "charged" not in case:
        return case["verdict"]
    return "contrived" if is_excused(case) else case["charged"]


def is_clause(said):
    return said.isupper()


def version(run):
    return run["testee"]["implementation"]["version"]


def by_version(version):
    """Sorts versions as numbers: 2.10 behind 2.9, and a release behind its candidates."""
    release = re.match(r"[\d.]+", version)
    numbers = tuple(int(number) for number in re.findall(r"\d+", release[0] if release else ""))
    rest = version[release.end() if release else 0 :]
    return numbers, not rest, [(int(part) if part.isdigit() else -1, part) for part in re.split(r"(\d+)", rest)]


@dataclass
class Trend:
    """The versions of one adapter that were recorded, the oldest first, with their columns and the steps between them."""

    id: str
    columns: list
    steps: list

    @property
    def clauses(self):
        """Those that one of the versions breaks."""
        return [clause["id"] for clause in clauses() + clauses(("SESSION-",)) if any(column.cells.get(clause["id"], Cell()).found for column in self.columns)]


def trends(columns, runs, others, days):
    """The trend of each adapter that has more than one version. `columns` and `runs` are of the pinned versions, `others` pairs of an adapter at another version and its run file."""
    for column, (adapter, run) in zip(columns, runs):
        own = [(other, said) for other, said in others if type(other) is type(adapter) and other.id.partition("@")[0] == adapter.id]
        made = [(cells.column(other, said, days[other.day], choices(adapter)), said) for other, said in own]
        if made:
            yield trend(adapter.day, [(column, run), *made])


def trend(name, recorded):
    """The trend of several versions of one adapter, given as pairs of a column and its run file."""
    ordered = sorted(recorded, key=lambda pair: (by_version(pair[0].version), pair[0].day))
    steps = [step(before, after) for (_, before), (_, after) in zip(ordered, ordered[1:])]
    return Trend(name, [column for column, _ in ordered], steps)


def markdown(trends):
    if not trends:
        return
    yield "\n## Versions\n"
    yield "What was mended and what broke from version to version (`threadspec matrix run FRAMEWORK@VERSION` adds one). A case is compared where both versions"
    yield "were put to it, by the adapter that was written for the pinned version. *mended*: it passes now; *broke*: it passed before; *otherwise*: it fails for another reason, or cannot be seen any more."
    for one in trends:
        yield f"\n### {one.id}, version by version\n"
        yield f"| clause | {' | '.join(column.version for column in one.columns)} |"
        yield "|---" * (len(one.columns) + 1) + "|"
        for clause in one.clauses:
            yield f"| {clause} | {' | '.join(column.cells.get(clause, Cell()).text for column in one.columns)} |"
        yield ""
        for made in one.steps:
            told = "; ".join(f"**{kind}** {', '.join(plain(said) if '`' not in said else said for said in what)}" for kind, what in made.lines())
            yield f"- {made.before} → {made.after}, {made.common} cases: {told or 'nothing changed'}"


def html(trends, text):
    """The same as cards of HTML. `text` writes a text as HTML."""
    if not trends:
        return
    yield '<section data-door="versions"><h2 id="versions">Versions</h2><p>What was mended and what broke from version to version, in the cases that were put to both, by the adapter that was written for the pinned one.</p>'
    for one in trends:
        yield f'<h3>{text(one.id)}</h3><table class="words"><caption class="hidden">{text(one.id)}, version by version</caption><thead><tr><th scope="col">Clause</th>'
        yield "".join(f'<th scope="col">{text(column.version)}</th>' for column in one.columns) + "</tr></thead><tbody>"
        for clause in one.clauses:
            versions = [(column.version, column.cells.get(clause, Cell())) for column in one.columns]
            yield f'<tr data-clause="{clause}"><th scope="row"><a href="#{clause}">{short(clause)}</a></th>' + "".join(f'<td title="{text(version)}"><span class="{cell.state}">{text(cell.text)}</span></td>' for version, cell in versions) + "</tr>"
        yield "</tbody></table><ul>"
        for made in one.steps:
            told = "; ".join(f"<strong>{kind}</strong> {text(', '.join(what)).replace('`', '')}" for kind, what in made.lines())
            yield f"<li>{text(made.before)} → {text(made.after)}, {made.common} cases: {told or 'nothing changed'}</li>"
        yield "</ul>"
    yield "</section>"
