"""What stands where on the page: the worst first, and each cell as on the pages in Markdown."""

import unittest

from . import html
from .cells import Cell, Finding
from .doors import Door, Side, through
from .over_wire import Difference


def cell(*severities, **more):
    return Cell(faults=[Finding({"id": f"c{place}", "severity": severity, "input": "", "why": "why"}, "what") for place, severity in enumerate(severities)], **more)


def side(id, **cells):
    return Side(id, id.title(), "1.2", "Python", "2026-01-02", {f"AGENT-{clause.replace('_', '-')}": cell for clause, cell in cells.items()})


def door(*sides, **different):
    return Door("adapter", "By an adapter", "", list(sides), ("AGENT-",), {("one", f"AGENT-{clause}"): difference for clause, difference in different.items()})


class Order(unittest.TestCase):
    def test_harm_comes_before_counts_and_duties_before_recommendations(self):
        first = side("one", TEXT=cell("C", "C", "C"), IDS=cell("B", "A"), RESULT=cell("B"), END=cell("B", "B", recommended=True), ORDER=Cell(passed=1))
        found = door(first, side("two", RESULT=cell("B"), TEXT=cell("B"), NUMBERS=cell("B", "B", "B"))).clauses()
        self.assertEqual(found[:5], ["AGENT-IDS", "AGENT-TEXT", "AGENT-RESULT", "AGENT-NUMBERS", "AGENT-END"])
        # What nobody breaks has its row all the same, in the order of the registry.
        self.assertLess(found.index("AGENT-START"), found.index("AGENT-ORDER"))

    def test_the_row_says_which_severities_it_has(self):
        page = "\n".join(html.page([door(side("one", IDS=cell("B", "A")), side("two", IDS=cell("B")))], []))
        self.assertIn('<tr data-clause="AGENT-IDS" data-severity="A B">', page)
        self.assertIn('<td class="fail" title="two" data-severity="B"><a href="#two-AGENT-IDS"><i aria-hidden="true">1</i><b>FAIL 1</b></a></td>', page)
        self.assertIn('id="two-AGENT-IDS"', page)


    def test_what_the_wire_shows_counts_in_the_order_too(self):
        wire = Difference("AGENT-IDS", "one", Cell(passed=1), cell("A"))
        one = door(side("one", IDS=Cell(passed=1), END=cell("B")), IDS=wire)
        self.assertEqual((one.clauses()[:2], one.severity("AGENT-IDS")), (["AGENT-IDS", "AGENT-END"], "A"))


class Cells(unittest.TestCase):
    def shown(self, cell, difference=None):
        one = side("one", IDS=cell)
        return html.table_cell(door(one, **({"IDS": difference} if difference else {})), one, "AGENT-IDS")

    def test_a_cell_is_short_for_the_eye_and_whole_for_all_others(self):
        contrived, touched = Cell(contrived=cell("C").faults, passed=1), Cell(touched=cell("B").faults, passed=1)
        for shown, sign, said in (
            (Cell(passed=2), "✓", "pass"),
            (cell("A", "B"), "2", "FAIL 2"),
            (cell("B", recommended=True), "1", "warn 1"),
            (contrived, "C 1", "C 1"),
            (touched, "(1)", "touched 1"),
            (Cell(in_the_way={"AGENT-END"}), "by", "by END"),
            (Cell(unsupported=3), "–", "unsupported"),
        ):
            self.assertIn(f'<i aria-hidden="true">{sign}</i><b>{said}</b>', self.shown(shown))
        self.assertEqual(self.shown(Cell()), "<td></td>")

    def test_where_the_wire_differs_it_counts(self):
        shown = self.shown(cell("B"), Difference("AGENT-IDS", "one", cell("B"), Cell(passed=1)))
        self.assertIn('class="pass"', shown)
        self.assertIn("<sup>≠</sup></i><b>wire: pass; FAIL 1</b>", shown)


class Gateways(unittest.TestCase):
    def test_a_gateway_is_read_as_its_table_keeps_it(self):
        kept = {"recommended": False, "passed": 3, "unsupported": 0, "inTheWay": [], "faults": {"a": "B", "b": "A"}, "contrived": {"c": "C"}, "touched": {}}
        kept |= {"pairs": {"chat → Anthropic": 2}, "pair": "one.openai-chat.anthropic", "case": "a", "why": "because", "what": "It drops <ids>."}
        one = through({"id": "one", "name": "One", "version": "3", "language": "Rust", "day": "2026-01-02", "cells": {"GATE-IDS": kept}})
        self.assertEqual((one.cell("GATE-IDS").text, one.cell("GATE-IDS").severities), ("FAIL 2", ["A", "B"]))
        page = "\n".join(html.page([Door("gateway", "Gateways", "", [one], ("GATE-",))], []))
        self.assertIn("GATE-IDS: It drops &lt;ids&gt;.", page)
        self.assertIn("table --show one.openai-chat.anthropic a", page)
        self.assertIn('href="#gateway-one-GATE-IDS"', page)


if __name__ == "__main__":
    unittest.main()
