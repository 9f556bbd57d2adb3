"""What was mended and what broke from version to version."""

import html as escaping
import unittest

from . import cells, run_files, trends
from .adapters import HERE, Adapter


def case(id, *broken, verdict="", severity="B", level="must", counts=True, input="{}"):
    note = "\n".join(f"{clause}: what" for clause in broken)
    return {"id": id, "verdict": verdict or ("fail" if broken else "pass"), "note": note, "clauses": ["AGENT-END"], "level": level, "counts": counts, "severity": severity, "input": input, "why": "why"}


def run(version, *found):
    return run_files.run("Looper", version, list(found), {})


class Step(unittest.TestCase):
    def step(self, before, after):
        return trends.step(run("1.0", *before), run("1.1", *after))

    def test_what_passes_now_was_mended_and_what_passed_before_broke(self):
        step = self.step([case("a", "AGENT-IDS"), case("b"), case("c", "AGENT-END")], [case("a"), case("b", "AGENT-END"), case("c", "AGENT-END")])
        self.assertEqual((step.mended, step.broke, step.otherwise, step.common), ({"AGENT-IDS": ["a"]}, {"AGENT-END": ["b"]}, {}, 3))
        self.assertEqual(list(step.lines()), [("mended", ["IDS 1 (`a`)"]), ("broke", ["END 1 (`b`)"])])

    def test_the_same_is_no_change_whatever_its_words(self):
        after = [{**case("a", "AGENT-IDS"), "note": "AGENT-IDS: said otherwise"}, case("b")]
        self.assertFalse(self.step([case("a", "AGENT-IDS"), case("b")], after).changed)

    def test_of_a_case_that_one_of_them_was_not_put_nothing_is_known(self):
        for before, after in ([case("a", "AGENT-IDS")], [case("b")]), ([case("a", verdict="not-run")], [case("a", "AGENT-IDS")]), ([case("a", "AGENT-IDS")], [case("a", verdict="not-run")]):
            step = self.step(before, after)
            self.assertEqual((step.changed, step.common), (False, 0))

    def test_another_reason_is_neither_mended_nor_broken(self):
        contrived = case("c", "AGENT-IDS", severity="C", counts=False)
        step = self.step([case("a", "AGENT-IDS"), case("b"), case("c")], [case("a", "AGENT-START"), case("b", verdict="unsupported"), contrived])
        self.assertEqual((step.mended, step.broke), ({}, {}))
        self.assertEqual(step.otherwise, {("AGENT-IDS", "AGENT-START"): ["a"], ("pass", "unsupported"): ["b"], ("pass", "contrived"): ["c"]})
        self.assertTrue(step.changed)

    def test_the_smallest_case_is_named(self):
        step = self.step([case("big"), case("small")], [case("big", "AGENT-IDS", input="{ }"), case("small", "AGENT-IDS")])
        self.assertEqual(step.broke, {"AGENT-IDS": ["small", "big"]})


class Order(unittest.TestCase):
    def test_versions_are_numbers_and_a_release_follows_its_candidates(self):
        versions = ["2.9.0", "2.10.0", "2.10.0rc1", "3.0", "2.10.0rc10", "2.10.0rc2", "7.0.0-beta.1", "7.0.0"]
        self.assertEqual(sorted(versions, key=trends.by_version), ["2.9.0", "2.10.0rc1", "2.10.0rc2", "2.10.0rc10", "2.10.0", "3.0", "7.0.0-beta.1", "7.0.0"])


class Trends(unittest.TestCase):
    def trend(self):
        adapter = Adapter("looper", HERE / "looper", "python")
        runs = [run("2.0", case("a"), case("b", "AGENT-END")), run("1.9", case("a", "AGENT-IDS"), case("b", "AGENT-END")), run("1.10", case("a", "AGENT-IDS"), case("b"))]
        recorded = [(cells.column(adapter, one, "2026-01-02", []), one) for one in runs]
        return trends.trend("looper", recorded)

    def test_columns_and_steps_go_from_the_oldest_to_the_newest(self):
        trend = self.trend()
        self.assertEqual([column.version for column in trend.columns], ["1.9", "1.10", "2.0"])
        self.assertEqual([(step.before, step.after, step.mended, step.broke) for step in trend.steps], [("1.9", "1.10", {"AGENT-END": ["b"]}, {}), ("1.10", "2.0", {"AGENT-IDS": ["a"]}, {"AGENT-END": ["b"]})])

    def test_the_pages_say_both(self):
        page = "\n".join(trends.markdown([self.trend()]))
        self.assertIn("| AGENT-IDS | FAIL 1 | FAIL 1 |", page)
        self.assertIn("- 1.10 → 2.0, 2 cases: **mended** IDS 1 (`a`); **broke** END 1 (`b`)", page)
        page = "\n".join(trends.html([self.trend()], escaping.escape))
        self.assertIn("<li>1.10 → 2.0, 2 cases: <strong>mended</strong> IDS 1 (a); <strong>broke</strong> END 1 (b)</li>", page)
        self.assertEqual(list(trends.markdown([])) + list(trends.html([], escaping.escape)), [])


if __name__ == "__main__":
    unittest.main()
