"""Tests of `session.py` over a thread of a few lines, and of each session adapter whose framework is installed, over `sessions.json`."""

import json
import signal
import sys
import unittest
from pathlib import Path

from sessions import SESSIONS, Process, differences

SHARED = Path(__file__).parent
FRAMEWORKS = SHARED.parent
ADAPTER = """
import asyncio, json, sys, time
from concurrent.futures import ThreadPoolExecutor
sys.path.insert(0, sys.argv[1])
from session import MAIN, Image, Thread, described_call, fingerprint, serve_sessions

class List(Thread):
    # A list in a file, written after every message; calls without an answer are answered by the next run.
    def __init__(self, session):
        super().__init__(session)
        self.file = session.storage / "thread.json"
        self.messages = json.loads(self.file.read_text()) if self.file.exists() else []
        self.open = []
        self.active = MAIN
        self.writer = ThreadPoolExecutor(1)

    def add(self, message):
        self.messages.append(message)
        if "--writes-late" in sys.argv:
            self.writer.submit(self.write_late, json.dumps(self.messages))
        else:
            self.file.write_text(json.dumps(self.messages))

    def write_late(self, text):
        # More processor time than a cut waits when nothing works.
        end = time.thread_time() + 0.15
        while time.thread_time() < end:
            pass
        self.file.write_text(text)

    async def answer(self, call, decision=None):
        async def result():
            if decision and not decision.approve:
                return decision.reason or "denied"
            args = decision.args if decision and decision.args else call["args"]
            return await self.session.call(call["name"], args, None if "--no-ids" in sys.argv else call["id"], self.active)
        told = await result()
        images = {}
        if isinstance(told, Image):
            images, told = {"images": [fingerprint(told.bytes)]}, told.text or ""
        self.add({"type": "tool", "content": told, "tool_call_id": call["id"], **images})

    def waiting(self):
        answered = {message.get("tool_call_id") for message in self.messages}
        return [call for message in self.messages for call in message.get("tool_calls", []) if call["id"] not in answered]

    async def play(self, run):
        if run.compact:
            self.session.summarize(self.messages)
            self.messages = self.messages[-run.compact["keepMessages"]:]
        if run.cut.get("how") == "cancel" and "--waits" in sys.argv:
            run.cancel = lambda: None
        try:
            if run.decisions:
                await asyncio.gather(*(self.answer(call, run.decisions[call["id"]]) for call in self.waiting() if call["id"] in run.decisions))
            elif self.gated(self.waiting()) and "--refuses" in sys.argv:
                raise ValueError("decide first")
            for call in self.waiting():
                self.add({"type": "tool", "content": "interrupted", "tool_call_id": call["id"]})
            if run.message is not None:
                self.add({"type": "human", "content": run.message})
            for _ in range(run.rounds + 1):
                agent = self.session.agents[self.active]
                turn = self.session.ask((agent.system, self.messages))
                calls = [described_call(call.id, call.name, call.arguments) for call in turn.calls]
                opaque = {"opaque": turn.opaque} if turn.opaque else {}
                self.add({"type": "ai", "content": turn.content, **({"tool_calls": calls} if calls else {}), **opaque})
                moves = {call.id: call.handoff for call in turn.calls if call.handoff}
                for id, other in moves.items():
                    self.add({"type": "tool", "content": "moved", "tool_call_id": id})
                    self.active = other
                for call in calls:
                    if "raw" in call:
                        self.add({"type": "tool", "content": "no object", "tool_call_id": call["id"]})
                if not calls:
                    return
                gated = self.gated(calls)
                await asyncio.gather(*(self.answer(call) for call in calls if call not in gated and call["id"] not in moves and "raw" not in call))
                if gated:
                    return
        finally:
            run.pending = [call["id"] for call in self.gated(self.waiting())]

    def gated(self, calls):
        return [call for call in calls if self.session.agents[self.active].tools.get(call["name"])]

def describe(request):
    system, messages = request if isinstance(request, tuple) else (None, request)
    return [*([{"type": "system", "content": system}] if system else []), *messages]

features = ["message", "error", "cancel", "kill", "limit", "resume", "approval", "edit", "compact", "handoff", "opaque", "raw", "image"]
serve_sessions(List, describe, features=features, handoff=lambda agent: f"to_{agent}", saves="round", package="pip", url="https://example.org")
"""


def adapter(*arguments):
    return Process([sys.executable, "-c", ADAPTER, str(SHARED), *arguments])


def call(id, name="look", **args):
    return {"id": id, "name": name, "args": args}


def look(**results):
    return {"look": {"byId": results}}


class Harness(unittest.TestCase):
    def play(self, input, *arguments):
        process = adapter(*arguments)
        try:
            return process.play(input)
        finally:
            process.end()

    def test_the_sessions_with_known_reports(self):
        process = adapter()
        for session in SESSIONS:
            with self.subTest(session["name"]):
                self.assertEqual(differences(session, process.play(session["input"])), [])
        process.end()

    def test_the_hello(self):
        process = adapter()
        hello = process.ask({"id": 0, "op": "hello", "protocol": 1})["ok"]
        process.end()
        self.assertEqual((hello["ops"], hello["saves"], "systems" in hello), (["session"], "round", False))

    def test_a_kill_ends_the_process_at_once_having_said_what_happened(self):
        process = adapter()
        runs = [{"message": "Go", "model": [{"content": "", "tool_calls": [call("a"), call("b")]}], "cut": {"during": "b", "how": "kill"}}, {"message": "On", "model": [{}]}]
        input = {"tools": look(a="ra"), "runs": runs, "storage": "/dev/shm" if Path("/dev/shm").is_dir() else "/tmp"}
        reply = process.ask({"id": 7, "op": "session", "input": input})
        self.assertEqual(process.end(), -signal.SIGKILL)
        (Path(input["storage"]) / "thread.json").unlink()
        self.assertEqual((reply["id"], reply["cut"], len(reply["runs"])), (7, True, 1))
        self.assertEqual(reply["runs"][0]["executed"], [{"id": "a", "name": "look", "args": {}}, {"id": "b", "name": "look", "args": {}, "returned": False}])

    def test_a_run_refused_before_anything_happened_has_no_failure(self):
        runs = [{"message": "Go", "model": [{"tool_calls": [call("b", "pay")]}]}, {"message": "On", "model": [{}]}, {"decisions": {"b": {"approve": True}}, "model": [{"error": "down"}]}]
        first, second, third = self.play({"tools": {"pay": {"approval": True, "byId": {"b": "rb"}}}, "runs": runs}, "--refuses")
        self.assertEqual(second, {"requests": [], "executed": [], "pending": ["b"], "refused": "ValueError: decide first"})
        self.assertEqual((first.get("failure"), third["failure"], len(third["requests"])), (None, "ModelFailed: down", 1))

    def test_a_run_that_summarizes_and_is_refused_then_is_refused(self):
        runs = [{"message": "Go", "model": [{"tool_calls": [call("b", "pay")]}]}, {"message": "On", "compact": {"keepMessages": 9}, "model": [{}]}]
        second = self.play({"tools": {"pay": {"approval": True, "byId": {"b": "rb"}}}, "runs": runs}, "--refuses")[1]
        self.assertEqual((second["refused"], len(second["summaries"])), ("ValueError: decide first", 1))

    def test_a_framework_that_waits_for_a_cancelled_call_gets_its_result(self):
        input = {"tools": look(b="rb"), "runs": [{"message": "Go", "model": [{"tool_calls": [call("b")]}, {"content": "One."}], "cut": {"during": "b", "how": "cancel"}}]}
        (waited,) = self.play(input, "--waits")
        self.assertEqual((len(waited["requests"]), waited["requests"][1][-1]["content"], waited["executed"][0]["returned"]), (2, "rb", False))
        (ended,) = self.play(input)
        self.assertEqual((len(ended["requests"]), ended["failure"]), (1, "CancelledError"))

    def test_a_cut_waits_for_every_other_call(self):
        calls = [call("a"), call("b"), call("c")]
        for how in "cancel", "throw", "kill":
            runs = self.play({"tools": look(), "runs": [{"message": "Go", "model": [{"tool_calls": calls}], "cut": {"during": "a", "how": how}}, {"message": "On", "model": [{}]}]})
            self.assertEqual([one.get("returned", True) for one in runs[0]["executed"]], [False, True, True], how)
            self.assertEqual(len(runs[1]["requests"]), 1, how)

    def test_a_kill_waits_for_a_thread_that_still_writes(self):
        runs = [{"message": "Go", "model": [{"tool_calls": [call("a"), call("b")]}], "cut": {"during": "b", "how": "kill"}}, {"message": "On", "model": [{}]}]
        answers = [one for one in self.play({"tools": look(a="ra"), "runs": runs}, "--writes-late")[1]["requests"][0] if one["type"] == "tool"]
        self.assertEqual([one["content"] for one in answers], ["ra", "interrupted"])

    def test_calls_are_found_by_name_and_arguments_where_their_ids_are_not_told(self):
        runs = [{"message": "Go", "model": [{"tool_calls": [call("a", n=1), call("b", n=2)]}, {}]}, {"message": "On", "model": [{"tool_calls": [call("c", n=1)]}, {}]}]
        first, second = self.play({"tools": look(a="ra", b="rb", c="rc"), "runs": runs}, "--no-ids")
        self.assertEqual([one["id"] for one in first["executed"] + second["executed"]], ["a", "b", "c"])
        self.assertEqual([message["content"] for message in second["requests"][1] if message["type"] == "tool"], ["ra", "rb", "rc"])

    def test_new_arguments_find_the_decided_call(self):
        decisions = {"b": {"approve": True, "args": {"n": 3}}, "c": {"approve": True}}
        runs = [{"message": "Go", "model": [{"tool_calls": [call("b", "pay", n=1), call("c", "pay", n=2)]}]}, {"decisions": decisions, "model": [{}]}]
        executed = self.play({"tools": {"pay": {"approval": True, "byId": {"b": "rb", "c": "rc"}}}, "runs": runs}, "--no-ids")[1]["executed"]
        self.assertEqual([(one["id"], one["args"]["n"]) for one in executed], [("b", 3), ("c", 2)])

    def test_summaries_are_no_requests(self):
        runs = [{"message": "Go", "model": [{"content": "One."}]}, {"message": "On", "compact": {"keepMessages": 1, "summary": "s"}, "model": [{}]}]
        second = self.play({"runs": runs})[1]
        self.assertEqual((len(second["summaries"]), len(second["requests"])), (1, 1))

    def test_a_hand_over_is_known_by_its_id_and_its_tools_are_those_of_the_new_agent(self):
        agents = {"b": {"system": "I am b.", "tools": {"look": {"byId": {"x": "of b"}}}}}
        turns = [{"tool_calls": [{"id": "h", "handoff": "b"}]}, {"tool_calls": [call("x")]}, {}]
        (run,) = self.play({"system": "I am main.", "tools": look(x="of main"), "agents": agents, "runs": [{"message": "Go", "model": turns}]})
        self.assertEqual([request[0]["content"] for request in run["requests"]], ["I am main.", "I am b.", "I am b."])
        self.assertEqual((run["requests"][1][2]["tool_calls"][0]["name"], run["requests"][2][-1]["content"]), ("to_b", "of b"))

    def test_arguments_that_are_no_object_and_images(self):
        calls = [{"id": "a", "name": "look", "arguments": "[1]"}, {"id": "b", "name": "look", "arguments": ""}]
        tools = look(b={"image": "AAEC", "text": "three bytes"})
        (run,) = self.play({"tools": tools, "runs": [{"message": "Go", "model": [{"tool_calls": calls}, {}]}]})
        said, *answers = run["requests"][1][1:]
        self.assertEqual([one.get("raw") for one in said["tool_calls"]], ["[1]", None])
        self.assertEqual([one["content"] for one in answers], ["no object", "three bytes"])
        self.assertEqual(answers[1]["images"], ["ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc"])
        self.assertEqual([one["id"] for one in run["executed"]], ["b"])


class Differences(unittest.TestCase):
    def test_a_system_text_of_the_frameworks_own_is_none_and_a_missing_one_is(self):
        system, human = {"type": "system", "content": "Be brief."}, {"type": "human", "content": "Go"}
        session = {"messages": {"S": system, "H": human}, "runs": [{"requests": [["S", "H"]]}]}

        def found(*request):
            return differences(session, [{"requests": [list(request)], "executed": []}])

        self.assertEqual(found(system, human), [])
        self.assertEqual(found({"type": "system", "content": "You are main. Be brief."}, human), [])
        self.assertEqual(len(found(human)), 1)
        self.assertEqual(len(found(system, human, human)), 1)


class Adapters(unittest.TestCase):
    def test_each_installed_adapter_plays_the_sessions_with_known_reports(self):
        for source in sorted(FRAMEWORKS.glob("*/session.py")):
            interpreter = source.parent / ".venv/bin/python"
            if not interpreter.exists():
                continue
            process = Process([str(interpreter), str(source)])
            for session in SESSIONS:
                if set(session["needs"]) <= set(process.features):
                    with self.subTest(f"{source.parent.name}: {session['name']}"):
                        runs = process.play(session["input"])
                        self.assertEqual(differences(session, runs) if runs is not None else [], [])
            process.end()


if __name__ == "__main__":
    unittest.main()
