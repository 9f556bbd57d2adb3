"""The file of verdicts: small, readable, and different wherever a verdict is."""

import unittest

from . import cells, run_files, verdicts
from .adapters import HERE, Adapter


def case(id, *broken, verdict=""):
    note = "\n".join(f"{clause}: what" for clause in broken)
    return {"id": id, "verdict": verdict or ("fail" if broken else "pass"), "note": note, "clauses": ["AGENT-END"], "level": "must", "counts": True, "severity": "B", "input": "{}", "why": "why"}


def column(*found):
    counts = {}
    for one in found:
        counts[one["verdict"]] = counts.get(one["verdict"], 0) + 1
    return cells.column(Adapter("looper", HERE / "looper", "python"), run_files.run("Looper", "1.2", list(found), counts), "2026-01-02")


def page(**modes):
    return "\n".join(verdicts.page("matrix", [("looper", {mode.replace("_", ":"): column for mode, column in modes.items()})])) + "\n"


class Verdicts(unittest.TestCase):
    def test_cases_of_a_topic_and_a_clause_share_a_line(self):
        found = column(case("agent/ids/twice", "AGENT-IDS"), case("agent/ids/empty", "AGENT-IDS"), case("agent/end/last", "AGENT-END"), case("agent/end/first"), case("agent/end/slow", verdict="timeout"))
        self.assertEqual(
            page(chat=found).split("\n")[2:],
            ["looper 1.2", "  chat 2026-01-02: 3 fail, 1 pass, 1 timeout", "  AGENT-END agent/end: last", "  timeout AGENT-END agent/end: slow", "  AGENT-IDS agent/ids: empty twice", ""],
        )

    def test_modes_are_named_where_a_case_does_not_fail_in_all(self):
        plain, streaming = column(case("agent/ids/twice", "AGENT-IDS"), case("agent/ids/empty", "AGENT-IDS")), column(case("agent/ids/twice", "AGENT-IDS"), case("agent/ids/empty"))
        lines = page(chat=plain, chat_stream=streaming).split("\n")
        self.assertEqual(lines[5:7], ["  AGENT-IDS agent/ids: twice", "  AGENT-IDS (chat) agent/ids: empty"])

    def test_what_changed_is_told_case_by_case(self):
        before = page(chat=column(case("agent/ids/twice", "AGENT-IDS"), case("agent/ids/empty"), case("agent/end/last", "AGENT-END")))
        after = page(chat=column(case("agent/ids/twice", "AGENT-END"), case("agent/ids/empty", verdict="crash"), case("agent/end/last", "AGENT-END")))
        told = ["looper: agent/ids/empty: no failure → crash AGENT-END", "looper: agent/ids/twice: AGENT-IDS → AGENT-END"]
        self.assertEqual(list(verdicts.changed(before, after)), told)
        self.assertEqual(list(verdicts.changed(before, before)), [])

    def test_a_case_that_cannot_be_seen_any_more_changes_the_file(self):
        self.assertNotEqual(page(chat=column(case("agent/ids/twice"))), page(chat=column(case("agent/ids/twice", verdict="unsupported"))))


if __name__ == "__main__":
    unittest.main()
