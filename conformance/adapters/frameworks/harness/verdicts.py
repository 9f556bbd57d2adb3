"""The verdicts of a door as a file that a person reviews: which cases each implementation fails, by which clause.

    agno 2.9.0
      2026-11-24: 181 fail (12 as documented), 14 unsupported, 1203 pass
      AGENT-RESULT agent/answered: false nothing
      AGENT-IDS (openai-chat:stream) agent/ids: twice
      timeout AGENT-END agent/growth: many-rounds

A line has all cases of a topic that are charged to a clause in the same modes, which are not named if these are all. A verdict stands first if it
is not `fail`. `beside` stands there where a clause is broken beside cases, and no case is charged to it.
"""

import re

from .adapters import ROOT
from .cells import KINDS

LINE = re.compile(r"^  (?:([a-z-]+) )?([A-Z][A-Z0-9-]+)(?: \((.*?)\))? (\S+): (.*)$")
# Those that are charged to a clause.
CHARGED = KINDS[:2]
# How many changed verdicts are told of a file.
MOST_TOLD = 40


def page(written_by, blocks):
    """The lines of a file. A block is a name with its columns by mode; one that has no modes has the mode ``""``."""
    yield f"# Who fails what, as `{written_by}` wrote it from the recordings; do not edit. A commit that changes a line says why."
    for name, columns in blocks:
        yield from block(name, columns)


def block(name, columns):
    yield f"\n{name}" if "@" in name else f"\n{name} {' '.join(dict.fromkeys(column.version for column in columns.values()))}"
    for mode, column in columns.items():
        yield f"  {' '.join(part for part in (mode, column.day) if part)}: {tally(column)}"
    modes, lines = {}, {}
    for mode, column in columns.items():
        for clause, cell in column.cells.items():
            for case in (finding.case for kind in CHARGED for finding in getattr(cell, kind)):
                modes.setdefault((clause, "" if case["verdict"] == "fail" else case["verdict"], case["id"]), []).append(mode)
            for finding in cell.beside if not cell.faults else []:
                modes.setdefault((clause, "beside", finding.case["id"]), []).append(mode)
    for (clause, verdict, case), own in modes.items():
        topic, _, name = case.rpartition("/")
        where = "" if len(own) == len(columns) else f" ({', '.join(own)})"
        lines.setdefault((clause, verdict, where, topic), []).append(name)
    for (clause, verdict, where, topic), names in sorted(lines.items()):
        yield f"  {f'{verdict} ' if verdict else ''}{clause}{where} {topic}: {' '.join(sorted(names))}"


def tally(column):
    """How often each verdict was given."""
    documented = f" ({column.documented} as documented)" if column.documented else ""
    beside = len({finding.case["id"] for cell in column.cells.values() for finding in cell.beside})
    counts = [f"{count} {verdict}{documented if verdict == 'fail' else ''}" for verdict, count in sorted(column.counts.items()) if count]
    return ", ".join([*counts, *([f"{beside} with more beside"] if beside else [])])


def failures(text):
    """What a file says of each case that an implementation fails: by both, the clauses with their modes."""
    found, name = {}, ""
    for line in text.splitlines():
        if line and not line.startswith((" ", "#")):
            name = line.split(" ")[0]
        elif match := LINE.match(line):
            verdict, clause, modes, topic, names = match.groups()
            said = f"{f'{verdict} ' if verdict else ''}{clause}{f' ({modes})' if modes else ''}"
            for case in names.split(" "):
                found.setdefault((name, f"{topic}/{case}"), []).append(said)
    return found


def changed(before, after):
    """Each case whose verdict is another than before, in words."""
    before, after = failures(before), failures(after)
    for name, case in sorted(before.keys() | after.keys()):
        old, new = (", ".join(side.get((name, case), [])) or "no failure" for side in (before, after))
        if old != new:
            yield f"{name}: {case}: {old} → {new}"


def write_or_tell(files, is_check, writer):
    """Writes those of these files that are out of date, or only tells them, with the verdicts that changed; returns them. `files` are texts by path."""
    outdated = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in outdated:
        before = path.read_text() if path.exists() else ""
        told = list(changed(before, files[path]))
        if not is_check:
            path.write_text(files[path])
        print(f"{path.relative_to(ROOT)}: {f'out of date; `{writer}` writes it' if is_check else 'written'}")
        print(*(f"  {line}" for line in told[:MOST_TOLD]), *([f"  … and {len(told) - MOST_TOLD} more"] if len(told) > MOST_TOLD else []), sep="\n", end="\n" if told else "")
    return outdated
