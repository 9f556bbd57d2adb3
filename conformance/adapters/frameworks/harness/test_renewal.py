"""Which renewals are told, and that half of one is none."""

import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import renewal, trends, versions
from .adapters import HERE, ROOT, Adapter, SessionAdapter, adapters
from .test_trends import case, run

RECORDINGS = HERE / "recordings"


def adapter(id="looper", kind=Adapter):
    return kind(id, HERE / "looper", "python")


def renewed(before, after, id="looper", kind=Adapter):
    return renewal.Renewed(versions.at(adapter(id, kind), trends.version(after)), trends.step(before, after))


class Whole(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "sessions").mkdir()

    def delivered(self, *names):
        for name in names:
            (self.folder / f"{name}.jsonl.xz").touch()
        found = renewal.delivered([adapter(), adapter("looper-js"), adapter(kind=SessionAdapter)], [self.folder, self.folder / "other"], RECORDINGS)
        return [one.day for one, _ in found], [path.relative_to(self.folder).as_posix() for _, path in found]

    def test_all_adapters_must_have_run(self):
        ids, paths = self.delivered("looper@2.0", "looper-js@1.0.0-beta.1", "sessions/looper@2.0")
        self.assertEqual(ids, ["looper@2.0", "looper-js@1.0.0-beta.1", "sessions of looper@2.0"])
        self.assertEqual(paths, ["looper@2.0.jsonl.xz", "looper-js@1.0.0-beta.1.jsonl.xz", "sessions/looper@2.0.jsonl.xz"])

    def test_half_a_renewal_is_none(self):
        with self.assertRaisesRegex(renewal.Incomplete, r"nothing is published: sessions of looper \(0 recordings\)"):
            self.delivered("looper@2.0", "looper-js@1.0")

    def test_of_two_versions_it_is_not_known_which_is_meant(self):
        with self.assertRaisesRegex(renewal.Incomplete, r"looper \(2 recordings\)"):
            self.delivered("looper@2.0", "looper@2.1", "looper-js@1.0", "sessions/looper@2.0")


class Workflow(unittest.TestCase):
    def test_it_runs_every_framework(self):
        listed = re.search(r"framework: \[([^]]*)\]", (ROOT / ".github/workflows/renew.yml").read_text())[1]
        self.assertEqual([name.strip() for name in listed.split(",")], sorted({adapter.folder.name for adapter in adapters()}))


class Newest(unittest.TestCase):
    def test_the_newest_version_and_of_one_version_the_newest_run(self):
        old, new, again = run("1.10", case("a")), run("1.9", case("a")), run("1.10", case("b"))
        self.assertIs(renewal.newest([("2026-01-01", old), ("2026-02-01", new), ("2026-01-03", again)]), again)


class Otherwise(unittest.TestCase):
    """A transcript stands for the cases that it has, here by their names."""

    def says_otherwise(self, before, after):
        transcripts = {b"before": before, b"after": after}
        with mock.patch.object(renewal, "judge", lambda name, transcript, *_: run("1.0", *transcripts[transcript])):
            return renewal.says_otherwise("looper", b"before", b"after", "threadspec")

    def test_a_recording_is_renewed_only_if_a_verdict_changed(self):
        self.assertFalse(self.says_otherwise([case("a", "AGENT-IDS")], [{**case("a", "AGENT-IDS"), "note": "AGENT-IDS: in other words"}]))
        self.assertTrue(self.says_otherwise([case("a", "AGENT-IDS")], [case("a")]))
        self.assertTrue(self.says_otherwise([case("a")], [case("a", verdict="unsupported")]))

    def test_a_case_that_was_not_judged_before_is_a_verdict_more(self):
        self.assertTrue(self.says_otherwise([case("a"), case("b", verdict="not-run")], [case("a"), case("b")]))

    def test_what_was_never_recorded_is_new(self):
        self.assertTrue(renewal.says_otherwise("looper", None, b"after", "threadspec"))


class Told(unittest.TestCase):
    def test_nothing_is_told_where_no_verdict_changed(self):
        same = renewed(run("1.0", case("a", "AGENT-IDS")), run("1.1", {**case("a", "AGENT-IDS"), "note": "AGENT-IDS: in other words"}))
        self.assertIsNone(renewal.issue([same]))
        self.assertFalse(same.step.changed)
        # The same version with other dependencies.
        self.assertTrue(renewed(run("1.0", case("a", "AGENT-IDS")), run("1.0", case("a"))).step.changed)

    def test_a_new_case_is_no_change_of_a_framework(self):
        self.assertIsNone(renewal.issue([renewed(run("1.0", case("a")), run("1.1", case("a"), case("b", "AGENT-IDS")))]))

    def test_the_changed_cells_are_named_each_with_a_case_and_how_to_see_it(self):
        broke = renewed(run("1.0", case("a"), case("b", "AGENT-END")), run("1.1", case("a", "AGENT-IDS"), case("b")))
        other = renewed(run("1.0", case("c", "SESSION-KEPT")), run("1.1", case("c", "SESSION-ONCE")), kind=SessionAdapter)
        title, text = renewal.issue([other, broke, renewed(run("3", case("a")), run("4", case("a")), "same")])
        self.assertEqual(title, "Matrix: verdicts changed in looper 1.1")
        for line in (
            "### looper: 1.0 → 1.1",
            "| mended | AGENT-END | 1 | `b` |",
            "| broke | AGENT-IDS | 1 | `a` |",
            "### sessions of looper: 1.0 → 1.1",
            "| otherwise | SESSION-KEPT → SESSION-ONCE | 1 | `c` |",
            "Again: `threadspec matrix run looper@1.1`",
        ):
            self.assertIn(line, text.split("\n"))
        self.assertNotIn("same", text)


if __name__ == "__main__":
    unittest.main()
