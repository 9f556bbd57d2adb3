"""Run files for tests, with what the runner says of clauses."""

import re

CLAUSE = re.compile(r"^([A-Z][A-Z0-9-]+): ", re.MULTILINE)


def charged(case):
    """A failed case with the clause that it is charged to, and what it touches."""
    if case["verdict"] in ("pass", "unsupported", "not-run"):
        return case
    broken = list(dict.fromkeys(CLAUSE.findall(case["note"])))
    clause = next((clause for clause in case["clauses"] if clause in broken), [*broken, *case["clauses"]][0])
    return {**case, "charged": clause, "touched": [other for other in dict.fromkeys([*broken, *case["clauses"]]) if other != clause]}


def run(name, version, cases, verdicts):
    """A run file of these cases; one of severity C that does not count is excused."""
    table = {}
    for case in map(charged, cases):
        kind = "failed" if "charged" in case else {"pass": "passed"}.get(case["verdict"], case["verdict"])
        if kind == "failed" and case.get("severity") == "C" and not case["counts"] and case["level"] == "must":
            kind = "excused"
        for clause in [case["charged"]] if "charged" in case else case["clauses"]:
            row = table.setdefault(clause, {"clause": clause})
            row[kind] = row.get(kind, 0) + 1
    implementation = {"name": name, "version": version}
    return {"testee": {"implementation": implementation}, "summary": {"verdicts": verdicts, "clauses": list(table.values())}, "cases": list(map(charged, cases))}
