"""Where an adapter and the wire differ, and what several modes show together."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import clients, doors, html, markdown, over_wire, wire_pages
from .cells import Cell, Column, Finding, merged
from .over_wire import Program, Reason, differences


def cell(*cases, passed=1, **more):
    return Cell(faults=[Finding({"id": case, "input": "", "why": "why"}, f"{case} <is> broken") for case in cases], passed=passed, **more)


def column(id, clause="AGENT-IDS", folder="looper", **cells):
    adapter = type("Adapter", (), {"id": id, "folder": Path(folder), "again": lambda self, case: f"again {self.id} {case}"})()
    return Column(adapter, {"name": "Looper", "version": "1.2"}, "2026-01-02", {"pass": 1}, 0, {clause: cells["of"]})


def looper(plain, streaming, clause="AGENT-IDS", name="looper"):
    return Program(name, {"openai-chat": column("p", clause, of=plain), "openai-chat:stream": column("s", clause, of=streaming)})


class OverWire(unittest.TestCase):
    def differing(self, adapter, program, *why, id="looper"):
        return [(one.clause, one.broken, one.why) for one in differences([column(id, of=adapter)], [program], why)]

    def test_a_case_counts_once_in_all_modes(self):
        program = looper(cell("a", "b"), cell("b"))
        self.assertEqual(program.cell("AGENT-IDS").text, "FAIL 2")
        self.assertEqual(program.modes_of("AGENT-IDS"), ["openai-chat", "openai-chat:stream"])
        self.assertEqual(merged([cell("a", passed=0), cell()]).state, "fail")

    def test_a_case_passes_if_it_does_so_in_each_mode_that_supports_it(self):
        program = looper(cell("a"), cell())
        plain = dict(a="fail", b="pass", c="unsupported", d="unsupported")
        streaming = dict(plain, a="pass", c="pass")
        program.runs = {mode: {"cases": [{"id": id, "verdict": verdict} for id, verdict in run.items()]} for mode, run in (("openai-chat", plain), ("openai-chat:stream", streaming))}
        self.assertEqual(program.passed, "2 of 3")
        self.assertEqual(list(wire_pages.rows([program]))[0][2], "2 of 3")

    def test_only_one_that_breaks_a_clause_alone_differs(self):
        both, neither = looper(cell("a"), cell()), looper(cell(), cell())
        self.assertEqual(self.differing(cell("b"), both), [])
        self.assertEqual(self.differing(cell(), neither), [])
        self.assertEqual(self.differing(cell(), both), [("AGENT-IDS", "wire", "")])
        self.assertEqual(self.differing(cell("a"), neither), [("AGENT-IDS", "adapter", "")])

    def test_what_is_not_recorded_does_not_differ(self):
        neither = looper(cell(), cell())
        for verdict, expected in ("not-run", []), ("pass", [("AGENT-IDS", "adapter", "")]):
            neither.runs = {"openai-chat": {"cases": [{"id": "a", "verdict": verdict}]}}
            self.assertEqual(self.differing(cell("a"), neither), expected)

    def test_who_does_not_judge_does_not_differ(self):
        silent = cell(passed=0, unsupported=3)
        self.assertEqual(self.differing(cell("a"), looper(silent, silent)), [])
        self.assertEqual(self.differing(silent, looper(cell("a"), cell())), [])

    def test_an_entry_point_is_compared_with_its_own_modes(self):
        program = looper(cell("a"), cell())
        self.assertEqual(self.differing(cell("a"), program, id="looper-generate"), [])
        self.assertEqual(self.differing(cell("a"), program, id="looper-stream"), [("AGENT-IDS", "adapter", "")])

    def test_a_reason_explains_its_own_difference_and_must_be_needed(self):
        program, reason = looper(cell("a"), cell()), Reason("AGENT-IDS", "the adapter cannot see it", ("loop*",), "wire")
        self.assertEqual(self.differing(cell(), program, reason), [("AGENT-IDS", "wire", "the adapter cannot see it")])
        for other in Reason("AGENT-IDS", "no", ("other",), "wire"), Reason("AGENT-IDS", "no", broken="adapter"), Reason("AGENT-END", "no", broken="wire"):
            with self.assertRaisesRegex(ValueError, "no difference needs"):
                self.differing(cell(), program, other)

    def test_pages_show_both_verdicts_and_escape(self):
        program = looper(cell("a"), cell(), "WIRE-RETRY")
        differing = list(differences([column("looper", of=cell("a"))], [looper(cell(), cell())], []))
        page = "\n".join(wire_pages.markdown([program], differing, ["other"]))
        self.assertIn("Not recorded yet: other.", page)
        self.assertIn("| looper 1.2 | openai-chat | 0 of 0 |  | WIRE-RETRY 1 |", page)
        self.assertIn("| AGENT-IDS | looper | FAIL 1 | pass | nobody has said the reason |", page)
        self.assertIn("(openai-chat); the smallest is `a`: a \\<is\\> broken", page)
        page = "\n".join(html.page([doors.Door("wire", "Over the wire", "", [doors.over_wire(program)], ("AGENT-", "WIRE-"))], differing))
        self.assertIn("a &lt;is&gt; broken", page)
        self.assertNotIn("<is>", page)
        table = "\n".join(markdown.table([column("looper", of=cell("a"))], [{"id": "AGENT-IDS", "level": "must"}], differing))
        self.assertIn("[wire: pass](#over-the-wire); [FAIL 1](#looper)", table)

    def test_the_modes_of_a_recording_are_kept_side_by_side(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(clients, "WIRE", Path(folder)):
            for mode in "openai-chat", "anthropic", "openai-chat":
                said = f'{{"transcript":1,"options":{{"provider":"{mode}"}}}}\n{{"text":"\u2028"}}\n'.encode()
                client = clients.Client("looper", Path(folder) / "looper", "python", api=mode)
                clients.record(client, said)
                self.assertEqual(clients.recorded(client.recording)[mode], said)
            self.assertEqual(list(clients.recorded(client.recording)), ["anthropic", "openai-chat"])


if __name__ == "__main__":
    unittest.main()
