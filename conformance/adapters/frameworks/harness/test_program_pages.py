"""The page of programs as they are: the worst first, and each red verdict with its bodies and its command."""

import json
import unittest
from pathlib import Path

from . import cells, html, program_pages
from .clients import RecipeClient, recipe_clients
from .doors import doors
from .over_wire import Program

RECIPE = {"about": "An agent.", "install": "npm install coder", "cannot": {"plain": "It streams."}}


def case(id, severity, verdict="fail", requests=([{"type": "human", "content": "Go"}],)):
    actual = {"ok": {"requests": list(requests), "wire": {"said": [{"content": "Look"}]}}}
    note = "AGENT-IDS: request 2 has another id" if verdict == "fail" else "the case begins with a history"
    more = {"charged": "AGENT-IDS", "counts": True, "why": "It is lost."} if verdict == "fail" else {"counts": False}
    return {"id": id, "clauses": ["AGENT-IDS"], "level": "must", "severity": severity, "verdict": verdict, "note": note, "input": "{}", "actual": json.dumps(actual), **more}


def program(name, *cases):
    client = RecipeClient(f"{name}.anthropic.stream", Path(name), "", [], "anthropic", True, recipe=RECIPE)
    run = {"testee": {"implementation": {"name": name, "version": "1.2", "language": "a program"}}, "cases": list(cases)}
    counts = {verdict: sum(case["verdict"] == verdict for case in cases) for verdict in ("fail", "unsupported")}
    run["summary"] = {"clauses": [{"clause": "AGENT-IDS", "failed": counts["fail"], "unsupported": counts["unsupported"]}], "verdicts": counts}
    return Program(name, {client.mode: cells.column(client, run, "2026-01-02", [])}, {client.mode: run})


class Programs(unittest.TestCase):
    def setUp(self):
        requests = [[{"type": "human", "content": "Go"}], [{"type": "human", "content": "Go"}, {"type": "ai", "content": "<b>"}]]
        self.worse = program("worse", case("agent/ids/twice", "A", requests=requests), case("agent/history/long", "B", "unsupported"))
        self.better = program("better", case("agent/ids/odd", "B"), case("agent/ids/odder", "B"))

    def test_the_worst_is_first(self):
        found = program_pages.worst_first([self.better, self.worse])
        self.assertEqual([program.name for program in found], ["worse", "better"])
        page = "\n".join(program_pages.page(found))
        self.assertLess(page.index("## worse"), page.index("## better"))
        section = "\n".join(program_pages.section(found))
        self.assertIn("| worse 1.2 | anthropic (stream) | 0 of 1 | IDS 1 |", section)
        self.assertEqual(list(program_pages.section([])), [])

    def test_a_red_verdict_has_both_bodies_and_its_command(self):
        page = "\n".join(program_pages.page([self.worse]))
        self.assertIn("### AGENT-IDS, anthropic:stream: agent/ids/twice", page)
        self.assertIn("    threadspec verify --provider anthropic:stream --program worse --filter agent/ids/twice", page)
        self.assertIn("Request 1:\n\n    ", page)
        self.assertIn('"content": "<b>"', page.partition("Request 2:")[2])
        self.assertIn("  - unsupported, 1: the case begins with a history", page)
        self.assertIn("- Not tested: plain. It streams.", page)

    def test_where_nothing_follows_the_answer_is_the_second_body(self):
        found = self.better.cell("AGENT-IDS").faults[0]
        self.assertEqual([title for title, _ in html.bodies(found)], ["Request 1", "The answer to it"])

    def test_of_long_requests_the_beginning_is_shown(self):
        found = self.better.cell("AGENT-IDS").faults[0]
        found.case["actual"] = found.case["actual"][:40]
        self.assertEqual(list(html.bodies(found)), [("The beginning of all requests", found.case["actual"])])

    def test_they_have_a_door_of_their_own(self):
        door = doors([], [], [], [], [self.worse])[-1]
        self.assertEqual((door.id, door.sides[0].cell("AGENT-IDS").text), ("program", "FAIL 1"))
        page = "\n".join(html.page([door], []))
        self.assertIn("&lt;b&gt;", page)
        self.assertIn("--program worse --filter agent/ids/twice", page)

    def test_a_recipe_says_in_which_modes_it_runs(self):
        modes = {client.id for client in recipe_clients()}
        self.assertLessEqual({"claude-code.anthropic.stream", "llm.openai-chat", "llm.openai-chat.stream", "pi.anthropic.stream"}, modes)
        self.assertNotIn("claude-code.anthropic", modes)


if __name__ == "__main__":
    unittest.main()
