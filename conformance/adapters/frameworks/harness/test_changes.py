"""Which figures are another than before, and whether somebody has said why."""

import unittest

from .cells import Cell, Column, Finding
from .changes import Reason, changes, section


def column(*cases, clause="AGENT-IDS"):
    cell = Cell(faults=[Finding({"id": case, "input": ""}, "what") for case in cases], passed=1)
    return Column(type("Adapter", (), {"id": "looper"})(), {}, "2026-01-02", {}, 0, {clause: cell})


class Changes(unittest.TestCase):
    def found(self, old, new, reasons=(), corpus=("a", "b", "c"), corpus_before=("a", "b")):
        before = {"cases": corpus_before, "adapters": {"looper": {"AGENT-IDS": [f"FAIL {len(old)}" if old else "pass", old]}}}
        return [(change.before, change.after, change.why) for change in changes([column(*new)], corpus, before, reasons)]

    def test_what_is_as_before_is_no_change(self):
        self.assertEqual(self.found(["a"], ["a"]), [])
        self.assertEqual(self.found([], []), [])

    def test_the_corpus_explains_its_own_cases(self):
        self.assertEqual(self.found(["a"], ["a", "c"]), [("FAIL 1", "FAIL 2", "1 case is new")])
        self.assertEqual(self.found(["a", "b"], ["a"], corpus=("a", "c")), [("FAIL 2", "FAIL 1", "1 case is withdrawn")])

    def test_a_case_that_is_contrived_now_explains_itself(self):
        one = column("a")
        one.cells["AGENT-IDS"].contrived = [Finding({"id": "b", "input": ""}, "what")]
        before = {"cases": ["a", "b"], "adapters": {"looper": {"AGENT-IDS": ["FAIL 2", ["a", "b"]]}}}
        self.assertEqual([change.why for change in changes([one], ["a", "b"], before, [])], ["1 case is contrived"])

    def test_a_failure_that_is_a_recommendation_now_needs_a_reason_beside_new_cases(self):
        advised = column("a", "c")
        advised.cells["AGENT-IDS"].recommended = True
        before = {"cases": ["a"], "adapters": {"looper": {"AGENT-IDS": ["FAIL 1", ["a"]]}}}
        self.assertEqual([change.why for change in changes([advised], ["a", "c"], before, [])], [""])

    def test_all_else_needs_a_reason(self):
        self.assertEqual(self.found(["a"], []), [("FAIL 1", "pass", "")])
        self.assertEqual(self.found(["a"], ["a", "b", "c"]), [("FAIL 1", "FAIL 3", "")])
        why = [Reason("AGENT-END", "not this"), Reason("AGENT-*", "nor this", ("other",)), Reason("AGENT-IDS", "mended", ("loop*",))]
        self.assertEqual(self.found(["a"], ["b", "c"], why), [("FAIL 1", "FAIL 2", "1 case is new; mended")])

    def test_the_page_shows_what_is_not_explained(self):
        before = {"cases": [], "adapters": {}}
        lines = list(section(changes([column("a")], [], before, []), "2026-01-01"))
        self.assertIn("| AGENT-IDS | looper | – | FAIL 1 | 1 case is new |", lines)
        before = {"cases": ["a"], "adapters": {}}
        self.assertIn("no reason is given", list(section(changes([column("a")], ["a"], before, []), "2026-01-01"))[-1])


if __name__ == "__main__":
    unittest.main()
