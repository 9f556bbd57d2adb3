"""GATEWAYS.md, and the gateways as the matrix shows them."""

from judged import days, findings

from harness.cells import merged, registry

REPOSITORY = "../../../"


def page(cells, why):
    ids, recorded = [clause["id"] for clause in registry()], days()
    order = lambda clause: (ids.index(clause) if clause in ids else len(ids), clause)
    yield from [
        "# Gateways",
        "",
        "What published gateways change between an agent and its model, as `verify --through` judged it: each clause that is broken, and how many",
        "cases of `golden/gateway/` (and of `golden/agent/`, where these were recorded) are charged to it. *Slanted*: only recommended. `C n`: contrived cases alone.",
        "Made from the recordings; `threadspec explain GATE-SAID` says what a clause wants, [the guide](../../gateway/README.md) how to read a failure.",
        "",
        "Each line below a gateway names a pair and a case. `conformance/adapters/gateways/table --show PAIR CASE` shows what was recorded of it, installing nothing:",
        "both bodies, cut to the first difference, and the `curl` line that sends the client's. The command of the pair with `--filter CASE` makes it again.",
        "",
        "| gateway | client → provider | plain | streaming |",
        "|---|---|---|---|",
    ]
    rows = {}
    for cell in cells:
        rows.setdefault((cell.pair.gateway.name, cell.pair.called), {})[cell.pair.stream] = cell
    for (name, called), row in rows.items():
        texts = [row[stream].text(order) or "not recorded" if stream in row else "" for stream in (False, True)]
        yield f"| [{name}](#{name}) | {called} | {texts[0]} | {texts[1]} |"
    by_name = {}
    for cell in cells:
        by_name.setdefault(cell.pair.gateway.name, []).append(cell)
    for name, own in by_name.items():
        gateway = own[0].pair.gateway
        yield from ["", f"## {name}", "", f"{gateway.called}, {gateway.manifest['package']}, {gateway.manifest['language']}; recorded on {recorded.get(name, '-')}. [Template]({REPOSITORY}examples/gateways/README.md)."]
        if "leftOut" in gateway.manifest:
            yield from ["", f"Left out: {gateway.manifest['leftOut']}"]
        broken = {}
        for cell in own:
            for clause, cases in cell.broken().items():
                broken.setdefault(clause, []).append((cell.pair, cases))
        if broken:
            yield from ["", "| clause | what it does | cells | a pair and a case |", "|---|---|---|---|"]
        for clause in sorted(broken, key=order):
            where = broken[clause]
            for told in explanations(clause, where, why):
                yield told
        yield from ["", "<details><summary>The commands that install it, and the command of each cell</summary>", ""]
        yield from (f"    {line}" for line in [*gateway.install(), "", *(cell.pair.command() for cell in own)])
        yield from ["", "</details>"]


def summary(cells, why):
    """The gateways with their cells, all pairs together, for the matrix: a case counts once, whatever the number of pairs that it fails in."""
    by_gateway = {}
    for cell in cells:
        if cell.run:
            by_gateway.setdefault(cell.pair.gateway, []).append(cell)
    for gateway, own in by_gateway.items():
        found = {clause: [cell for cell in own if clause in cell.cells] for clause in dict.fromkeys(clause for cell in own for clause in cell.cells)}
        yield {
            "id": gateway.name,
            "name": gateway.manifest["title"],
            "version": gateway.manifest["version"],
            "language": gateway.manifest["language"],
            "day": days()[gateway.name],
            "cells": {clause: {**figures(merged([cell.cells[clause] for cell in where])), **evidence(clause, where, why)} for clause, where in found.items()},
        }


def figures(cell):
    """A cell as numbers and cases, each with its severity."""
    cases = {kind: {finding.case["id"]: finding.case.get("severity", "") for finding in getattr(cell, kind)} for kind in ("faults", "contrived", "touched")}
    return {"recommended": cell.recommended, "passed": cell.passed, "unsupported": cell.unsupported, "inTheWay": sorted(cell.in_the_way), **cases}


def evidence(clause, where, why):
    """What the gateway does, where, and a pair and a case to look at; nothing if the clause holds."""
    broken = [(cell.pair, cell.broken()[clause]) for cell in where if clause in cell.broken()]
    if not broken:
        return {}
    pair, first = clearest(broken)
    pairs = {f"{pair.called}{' (stream)' if pair.stream else ''}": len(cases) for pair, cases in broken}
    return {"pairs": pairs, "pair": pair.id, "case": first["id"], "why": first.get("why", ""), "what": what(pair, clause, first, why)}


def clearest(broken):
    """The pair and the case with the smallest input."""
    return min(((pair, case) for pair, cases in broken for case in cases), key=lambda found: (len(found[1].get("input", "")), found[1]["id"]))


def what(pair, clause, case, why):
    """What the gateway does there: somebody's words, or the judge's."""
    one = next((one for one in why if one.explains(pair, clause, case["id"])), None)
    if not one:
        return "not explained yet: " + dict(reversed(findings(case))).get(clause, case["verdict"])
    return one.why + (f" Option `{one.option}` removes it." if one.option else "")


def explanations(clause, where, why):
    """A line for each reason that explains cases of the clause, and one for those that nothing explains."""
    lines = {}
    for pair, cases in where:
        for case in cases:
            one = next((one for one in why if one.explains(pair, clause, case["id"])), None)
            found = lines.setdefault(one, {})
            found.setdefault(pair, []).append(case)
    for cells in lines.values():
        pair, first = clearest(cells.items())
        modes = ", ".join(f"{pair.called}{' (stream)' if pair.stream else ''} {len(cases)}" for pair, cases in cells.items())
        yield f"| {clause} | {cell_text(what(pair, clause, first, why))} | {modes} | `{pair.id}` `{first['id']}` |"


def cell_text(text):
    text = "".join(character if character.isprintable() else "�" for character in text)
    return text.replace("|", "\\|").replace("<", "&lt;")[:600]
