"""What a cell says of the cases of its clause, and which of them are a framework's documented choice."""

import json
import tempfile
import tomllib
import unittest
from pathlib import Path
from unittest import mock

from . import cells, doors, html, known, markdown, run_files
from .adapters import Adapter


def case(id, verdict, note="", *clauses):
    more = {"why": "why", "input": '{"messages":[]}', "actual": '{"ok":{"requests":[[],[{"type":"human","content":"<b>"}]]}}'}
    return {"id": id, "verdict": verdict, "note": note, "clauses": clauses or ["AGENT-IDS"], "level": "must", "counts": verdict == "fail", **(more if verdict in ("fail", "crash", "timeout") else {})}


class Cells(unittest.TestCase):
    def column(self, *cases, notes="", repros=(), arguments=()):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "repro").mkdir()
        for name in repros:
            (folder / "repro" / name).touch()
        if notes:
            (folder / "notes.toml").write_text(notes)
        self.run = run_files.run("Looper", "1.2", cases, {})
        return cells.column(Adapter("looper", folder, "python", list(arguments)), self.run, "2026-01-02")

    def cell(self, *cases, clause="AGENT-IDS", notes=""):
        return self.column(*cases, notes=notes).cells[clause]

    def test_one_failing_case_is_enough(self):
        cell = self.cell(case("a", "pass"), case("b", "fail", "AGENT-IDS: request 2: twice"))
        self.assertEqual((cell.state, cell.text), ("fail", "FAIL 1"))
        self.assertEqual(cell.faults[0].request, [{"type": "human", "content": "<b>"}])

    def test_a_broken_recommendation_is_a_warning(self):
        cell = self.cell(case("a", "fail", "AGENT-END: message 2: lost", "AGENT-END"), clause="AGENT-END")
        self.assertEqual((cell.state, cell.text), ("warn", "warn 1"))

    def test_what_only_contrived_cases_show_is_no_failure(self):
        contrived = {**case("a", "fail", "AGENT-IDS: twice"), "severity": "C", "counts": False}
        self.assertEqual(self.cell(contrived).text, "C 1")
        self.assertEqual(self.cell(contrived, case("b", "fail", "AGENT-IDS: twice")).text, "FAIL 1")
        self.assertEqual(self.cell({**contrived, "counts": True}).text, "FAIL 1")
        self.assertEqual(self.cell({**contrived, "level": "should"}).text, "FAIL 1")

    def test_a_case_that_another_clause_fails_says_which(self):
        cell = self.cell(case("a", "fail", "AGENT-PREFIX: request 2: lost"))
        self.assertEqual((cell.state, cell.text), ("blocked", "by PREFIX"))
        self.assertEqual(self.cell(case("a", "crash", "it ended")).text, "FAIL 1")
        self.assertEqual(self.cell(case("a", "unsupported")).state, "unsupported")

    def test_what_is_beside_a_case_accuses_once_a_reproduction_shows_it(self):
        beside = {**case("a", "pass", "beside AGENT-IDS: request 2: twice", "AGENT-END"), "beside": ["AGENT-IDS"]}
        cell = self.cell(beside, case("c", "pass"))
        self.assertEqual((cell.state, cell.text, cells.unshown([self.column(beside)])), ("pass", "pass (beside 1)", []))
        cell = self.column(beside, repros=["AGENT-IDS.py"]).cells["AGENT-IDS"]
        self.assertEqual((cell.state, cell.text, cell.found[0].what), ("fail", "FAIL beside 1", "request 2: twice"))
        # Where a case is charged to the clause, this says nothing new; nor does what a case that counts, or a contrived one, has beside it.
        self.assertEqual(self.cell(beside, case("b", "fail", "AGENT-IDS: lost")).text, "FAIL 1")
        for silent in {"severity": "C"}, {"counts": True}:
            self.assertEqual(self.cell({**beside, **silent}).beside, [])

    def test_a_case_that_was_not_recorded_says_nothing(self):
        self.assertEqual(self.cell(case("a", "not-run"), case("b", "pass")).state, "pass")
        self.assertEqual(self.cell(case("a", "not-run")).state, "none")

    def test_a_case_is_charged_to_one_clause_and_others_are_touched(self):
        column = self.column(case("a", "pass"), case("b", "fail", "AGENT-PREFIX: lost\nAGENT-IDS: twice", "AGENT-PREFIX"))
        self.assertEqual([column.cells[clause].text for clause in ("AGENT-PREFIX", "AGENT-IDS")], ["FAIL 1", "touched 1"])
        self.assertEqual(self.cell(case("a", "fail", "AGENT-PREFIX: lost"), case("b", "pass")).text, "pass")

    def test_a_cell_that_says_something_else_than_the_run_is_refused(self):
        run = run_files.run("Looper", "1.2", [case("a", "fail", "AGENT-IDS: twice")], {})
        for said in {"failed": 2}, {}, {"failed": 1, "passed": 1}:
            run["summary"]["clauses"] = [{"clause": "AGENT-IDS", **said}]
            with self.assertRaisesRegex(ValueError, "AGENT-IDS: the cell says 'FAIL 1'"):
                cells.column(Adapter("looper", Path("looper"), "python"), run, "2026-01-02")

    def test_a_documented_choice_is_a_mark_where_it_explains_the_finding_and_nowhere_else(self):
        notes = '[[choice]]\nclause = "AGENT-IDS"\ncases = "a*"\nsays = "twi.e"\nnote = "on purpose"\n'
        explained = case("a1", "fail", "AGENT-IDS: twice")
        cell = self.cell(explained, notes=notes)
        self.assertEqual((cell.state, cell.text), ("fail", "FAIL 1 (documented)"))
        for other in case("b", "fail", "AGENT-IDS: twice"), case("a2", "fail", "AGENT-IDS: thrice"), case("a3", "fail", "AGENT-IDS: twice\nAGENT-IDS: lost"):
            cell = self.cell(explained, other, notes=notes)
            self.assertEqual((cell.text, [finding.case["id"] for finding in cell.documented]), ("FAIL 2 (1 documented)", ["a1"]))
            # What nobody documents is shown first.
            self.assertEqual(cell.faults[0].case["id"], other["id"])
        self.assertEqual(self.column(explained, case("b", "fail", "AGENT-IDS: thrice"), notes=notes).documented, 1)
        with self.assertRaisesRegex(ValueError, "on purpose"):
            self.column(case("b", "pass"), notes=notes)

    def test_an_accusation_needs_a_reproduction_of_its_own_entry_point(self):
        fault = case("a", "fail", "AGENT-IDS: twice")
        choice = '[[choice]]\nclause = "AGENT-IDS"\nnote = "on purpose"\n'
        for repros, unshown in ((), 1), (["AGENT-END.py"], 1), (["AGENT-IDS.stream.py"], 1), (["AGENT-IDS.generate.py"], 0), (["AGENT-IDS.py"], 0):
            column = self.column(fault, repros=repros, arguments=["generate"])
            self.assertEqual(cells.unshown([column]), ["looper AGENT-IDS"] * unshown, repros)
        self.assertEqual(cells.unshown([self.column(fault, notes=choice)]), [])

    def test_pages_show_what_was_found_and_escape_it(self):
        column = self.column(case("a", "fail", "AGENT-IDS: request 2, message 1: <script>"))
        clauses = [{"id": "AGENT-IDS", "level": "must", "text": "Ids & names"}]
        page = "\n".join(html.page([doors.Door("adapter", "By an adapter", "", [doors.side(column)], ("AGENT-",))], []))
        self.assertIn("FAIL 1", page)
        self.assertIn("&lt;script&gt;", page)
        self.assertIn("&lt;b&gt;", page)
        self.assertEqual(page.count("<script>"), 1)
        self.assertIn("message 1: \\<script\\>", "\n".join(markdown.page([column], clauses, [])))

    def test_known_failures_name_each_failing_case_and_why(self):
        column = self.column(case("a", "fail", 'AGENT-IDS: "twice"'), case("b", "pass"), case("c", "timeout", "no reply"))
        lines = "\n".join(known.known_failures(column.adapter, self.run))
        self.assertIn(json.dumps('AGENT-IDS: "twice"'), lines)
        self.assertIn("timeout: no reply", lines)
        self.assertNotIn('"b"', lines)

    def test_the_file_of_known_failures_is_made_from_the_recording_when_it_is_needed(self):
        adapter = self.column(case("a", "fail", "AGENT-IDS: twice")).adapter
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(known, "MADE", folder))
        self.enterContext(mock.patch.object(known, "judge", lambda name, transcript, *_: self.run if transcript == b"said" else None))
        for transcript, expected in (None, None), (b"said", ["a"]):
            with mock.patch.multiple(type(adapter), known_failures=folder / "made.toml", transcript=transcript):
                path = known.file_of(adapter, "threadspec")
            self.assertEqual(path and [entry["pattern"] for entry in tomllib.loads(path.read_text())["known"]], expected)
        # What a person wrote is taken as it is.
        for path in (folder.parent / "absent.toml", Path(__file__)):
            with mock.patch.multiple(type(adapter), known_failures=path, transcript=b"said"):
                self.assertEqual(known.file_of(adapter, "threadspec"), path if path.exists() else None)

    def test_known_failures_name_the_page_where_a_choice_is_documented(self):
        page = "https://example.org/ids"
        notes = f'[[choice]]\nclause = "AGENT-IDS"\ncases = "a"\nnote = "on purpose"\nlink = "{page}"\n'
        column = self.column(case("a", "fail", "AGENT-IDS: twice"), case("b", "fail", "AGENT-IDS: twice"), notes=notes)
        entries = tomllib.loads("\n".join(known.known_failures(column.adapter, self.run)))["known"]
        self.assertEqual([entry.get("documented") for entry in entries], [page, None])
        marked = known.marked(self.run, cells.choices(column.adapter))["cases"]
        self.assertEqual([case.get("documented") for case in marked], [True, None])


if __name__ == "__main__":
    unittest.main()
