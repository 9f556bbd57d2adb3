"""The page of sessions, and what belongs to a session adapter alone."""

import tempfile
import unittest
from pathlib import Path

from . import cells, over_wire, run_files, sessions
from .adapters import HERE, Adapter, SessionAdapter


def case(id, note="", clause="SESSION-VALID", level="must"):
    return {"id": id, "verdict": "fail" if note else "pass", "note": note, "clauses": [clause], "level": level, "counts": bool(note), "input": "{}"}


class Page(unittest.TestCase):
    def column(self, name, *cases, repros=()):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / name
        (folder / "repro").mkdir(parents=True)
        for repro in repros:
            (folder / "repro" / repro).touch()
        verdicts = {"pass": sum(not one["note"] for one in cases), "fail": sum(bool(one["note"]) for one in cases), "unsupported": 5}
        return cells.column(SessionAdapter(name, folder, "python"), run_files.run(name, "1", cases, verdicts), "2026-01-02")

    def test_the_worst_is_first(self):
        bad = self.column("bad", case("a", "SESSION-VALID: run 2, request 1: open"), case("b", "SESSION-VALID: run 2: open"), repros=["session-VALID.py"])
        warned = self.column("warned", case("a", "SESSION-KEPT: run 2: lost", "SESSION-KEPT", "should"))
        good = self.column("a-good-one", case("a"))
        text = "\n".join(sessions.page([good, warned, bad]))
        self.assertLess(text.index("[bad](#bad)"), text.index("[warned](#warned)"))
        self.assertLess(text.index("[warned](#warned)"), text.index("[a-good-one](#a-good-one)"))
        self.assertIn("VALID 2 |  | 2 of 7 |", text)
        self.assertIn("session-VALID.py", text)
        self.assertEqual(cells.unshown([bad]), [])

    def test_a_clause_is_shown_by_its_reproduction_and_others_are_named_beside_it(self):
        fault = case("a", "SESSION-VALID: run 2, request 1: open")
        column = self.column("bad", fault, repros=["session-VALID.py", "session-VALID.twice.py"])
        self.assertIn("[session-VALID.py](bad/repro/session-VALID.py), [session-VALID.twice.py](bad/repro/session-VALID.twice.py)", "\n".join(sessions.page([column])))
        self.assertEqual(cells.unshown([self.column("bad", fault, repros=["session-VALID.twice.py"])]), ["bad SESSION-VALID"])

    def test_what_was_tried_is_said_with_the_page_that_says_why(self):
        text = "\n".join(sessions.page([self.column("one", case("a"))], [("two", "it keeps facts", "https://example.org/memory")]))
        self.assertIn("- [two](FRAMEWORKS.md#two): it keeps facts (https://example.org/memory)", text)
        self.assertNotIn("## Tried", "\n".join(sessions.page([self.column("one", case("a"))])))

    def test_programs_over_the_wire_are_shown_with_why_they_differ(self):
        adapter, wire = self.column("one", case("a")), self.column("one", case("a", "SESSION-VALID: run 2, request 1: open"))
        program = over_wire.Program("one", {"openai-chat": wire}, {"openai-chat": {"cases": [case("a")]}})
        why = over_wire.Reason("SESSION-VALID", "the client leaves it out", broken="wire")
        differing = list(over_wire.differences([adapter], [program], [why], sessions.PREFIXES))
        text = "\n".join(sessions.page([adapter], programs=[program], differing=differing))
        self.assertIn("| one 1 | openai-chat | VALID 1 | 1 |", text)
        self.assertIn("| SESSION-VALID | one | pass | FAIL 1 | the client leaves it out |", text)
        self.assertNotIn("## Over the wire", "\n".join(sessions.page([adapter])))

    def test_clauses_of_a_single_run_are_shown_where_they_are_broken(self):
        self.assertNotIn("AGENT-FAILURE", "\n".join(sessions.page([self.column("one", case("a"))])))
        self.assertIn("| AGENT-FAILURE |", "\n".join(sessions.page([self.column("one", case("a", "AGENT-FAILURE: run 1: it ends"))])))

    def test_a_folder_keeps_what_belongs_to_each_op_apart(self):
        folder = HERE / "strands"
        tools, of_sessions = Adapter("strands", folder, "python"), SessionAdapter("strands", folder, "python")
        self.assertNotIn("SESSION-RAW", tools.reproductions)
        self.assertEqual({"SESSION-RAW", "AGENT-IDS"} - set(of_sessions.reproductions), set())
        for name in "recording", "known_failures", "notes", "day", "command":
            self.assertNotEqual(getattr(tools, name), getattr(of_sessions, name), name)


if __name__ == "__main__":
    unittest.main()
