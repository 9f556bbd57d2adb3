"""python3 -m unittest discover -s conformance/adapters/frameworks/shared: tests of `testee.py` over a loop of a few lines."""

import contextlib
import inspect
import io
import json
import subprocess
import sys
import typing
import unittest
from pathlib import Path

import turns
from testee import LONGEST_WRITTEN_TWICE, Run, ScriptedFailure, from_json, same, to_json

ADAPTER = """
import asyncio, sys
from testee import ScriptedFailure, serve, to_json

async def run(run):
    messages = run.given = run.final = list(run.messages)
    print("a framework that prints")
    if "--refuses" in sys.argv:
        raise ValueError("refused")
    while True:
        turn = run.ask(messages if "--shared-list" in sys.argv else list(messages))
        await asyncio.sleep(0.01)
        messages.append({"type": "ai", "content": turn.content, "tool_calls": [vars(call) for call in turn.calls]})
        if not turn.calls:
            return
        for call in turn.calls:
            if call.name == "abort":
                raise ValueError("aborted")
            if call.name == "change":
                messages[0]["content"] = "changed"
                call.args["n"] = "changed"
            try:
                content = run.result(call.name, call.args, call.id) if call.name in run.tools else f"unknown: {call.name}"
            except ScriptedFailure as error:
                content = f"failed: {error}"
            content = content if isinstance(content, str) else to_json(content)
            messages.append({"type": "tool", "content": content, "tool_call_id": call.id})

serve(run, list, package="pip", url="https://example.org")
"""
HELLO = {"id": 0, "op": "hello", "protocol": 1}


def exchange(*requests, arguments=()):
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    command = [sys.executable, "-c", ADAPTER, *arguments]
    done = subprocess.run(command, input=lines, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=Path(__file__).parent, check=True)
    return {reply["id"]: reply for reply in map(json.loads, done.stdout.splitlines())}


def script(model, tools=None, **more):
    return {"messages": [{"type": "human", "content": "Go"}], "model": model, "tools": tools or {}, **more}


def one(model, tools=None, arguments=(), **more):
    return exchange({"id": 1, "op": "tools", "input": script(model, tools, **more)}, arguments=arguments)[1]


def call(id="c1", name="a", **args):
    return {"id": id, "name": name, "args": args}


class Protocol(unittest.TestCase):
    def test_says_what_it_is(self):
        hello = exchange(HELLO)[0]["ok"]
        self.assertEqual((hello["ops"], hello["profiles"]), (["tools"], ["universal"]))

    def test_an_op_that_it_does_not_have_is_unsupported(self):
        self.assertIn("unsupported", exchange({"id": 3, "op": "serialize", "input": {}})[3])

    def test_several_requests_at_once_are_kept_apart(self):
        requests = [{"id": n, "op": "tools", "input": script([{"tool_calls": [call()]}, {"content": str(n)}], {"a": [str(n)]})} for n in range(9)]
        for n, reply in exchange(*requests).items():
            self.assertEqual([message["content"] for message in reply["ok"]["messages"]], ["Go", "", str(n), str(n)])


class Replies(unittest.TestCase):
    def test_requests_and_final_list(self):
        output = one([{"tool_calls": [call()]}, {"content": "Done"}], {"a": ["r"]})["ok"]
        self.assertEqual([len(request) for request in output["requests"]], [1, 3])
        self.assertEqual(output["messages"][-1]["content"], "Done")
        self.assertNotIn("failure", output)

    def test_a_request_is_what_the_model_got_whatever_becomes_of_the_list(self):
        model, tools = [{"tool_calls": [call()]}, {"content": "Done"}], {"a": ["r"]}
        for arguments, at_end in ([], [1, 3]), (["--shared-list"], [4, 4]):
            output = one(model, tools, arguments)["ok"]
            self.assertEqual([len(request) for request in output["requests"]], [1, 3])
            self.assertEqual([len(request) for request in output["requestsAtEnd"]], at_end)

    def test_requests_that_are_long_are_written_once(self):
        run = Run(script([{}]), list)
        run.ask([{"type": "human", "content": "x" * LONGEST_WRITTEN_TWICE}])
        self.assertEqual(json.loads(run.reply(None))["ok"].keys(), {"requests", "messages"})

    def test_a_message_and_arguments_that_change_are_seen_at_the_end_alone(self):
        output = one([{"tool_calls": [call(name="change", n=1)]}, {"tool_calls": [call()]}, {}], {"change": [""], "a": ["r"]})["ok"]
        first, second = output["requests"][:2]
        self.assertEqual((first[0]["content"], second[0]["content"]), ("Go", "changed"))
        self.assertEqual(output["requestsAtEnd"][0][0]["content"], "changed")

    def test_a_failing_model_is_reported(self):
        output = one([{"tool_calls": [call()]}, {"error": "down"}], {"a": ["r"]})["ok"]
        self.assertEqual(output["failure"], "ModelFailed: down")
        self.assertEqual(len(output["messages"]), 3)
        self.assertIn("script exhausted", one([])["ok"]["failure"])

    def test_a_refusal_is_one_only_before_the_first_request(self):
        aborted = one([{"tool_calls": [call(name="abort")]}])
        self.assertEqual(aborted["ok"]["failure"], "ValueError: aborted")
        self.assertEqual([len(request) for request in aborted["ok"]["requests"]], [1])
        self.assertEqual(one([], arguments=["--refuses"])["reject"]["message"], "ValueError: refused")

    def test_a_run_that_was_asked_for_is_never_refused(self):
        for requests in range(3):
            for failure in None, "down":
                for refusal in None, "aborted":
                    run = Run(script([{"tool_calls": [call()]}] * 3), list)
                    for _ in range(requests):
                        run.ask(run.messages)
                    run.failure = failure
                    is_refused = "reject" in json.loads(run.reply(refusal))
                    self.assertEqual(is_refused, requests == 0 and (failure or refusal) is not None)

    def test_a_call_that_no_model_could_make_is_unsupported(self):
        for name, is_unsupported in ("a", True), ("b", False), ("unknown", False):
            run = Run(script([{"tool_calls": [call(name=name)]}], {"a": [], "b": []}), list)
            run.ask([], declared={"A", "b"})
            self.assertEqual("unsupported" in json.loads(run.reply(None)), is_unsupported, name)

    def test_what_describe_cannot_read_is_unsupported_and_no_failing_model(self):
        run = Run(script([{"content": "Hi"}]), lambda messages: messages[1])
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(run.ask([]).content, "Hi")
            self.assertIn("cannot write", json.loads(run.reply(None))["unsupported"])

    def test_half_a_surrogate_pair_is_written(self):
        self.assertEqual(one([{"content": "\ud83d"}])["ok"]["messages"][-1]["content"], "\ud83d")

    def test_what_json_cannot_carry_is_unsupported(self):
        reply = exchange({"id": 1, "op": "tools", "input": script([{"tool_calls": [call(x=float("inf"))]}, {}], {"a": [""]})})[1]
        self.assertIn("unsupported", reply)


class Results(unittest.TestCase):
    def run_of(self, results, *calls):
        run = Run({"messages": [], "model": [{"tool_calls": list(calls)}], "tools": {"a": results}}, list)
        run.ask([])
        return run

    def test_in_order_the_last_one_for_ever(self):
        run = self.run_of(["x", "y"])
        self.assertEqual([run.result("a", {}) for _ in range(3)], ["x", "y", "y"])
        self.assertEqual(self.run_of([]).result("a", {}), "")

    def test_by_id(self):
        run = self.run_of({"byId": {"c1": None, "c2": {"error": "no"}}}, call("c1"), call("c2"), call("c3"))
        self.assertIsNone(run.result("a", {}, "c1"))
        self.assertRaises(ScriptedFailure, run.result, "a", {}, "c2")
        self.assertEqual(run.result("a", {}, "c3"), "")

    def test_by_id_where_only_the_arguments_are_known(self):
        run = self.run_of({"byId": {"c1": 1, "c2": 2}}, call("c1", x=1), call("c2", x=True))
        self.assertEqual((run.result("a", {"x": True}), run.result("a", {"x": 1}, "renamed")), (2, 1))
        self.assertIsNone(run.unobservable)

    def test_calls_that_cannot_be_told_apart(self):
        run = self.run_of({"byId": {"c1": 1, "c2": 2}}, call("c1"), call("c2"))
        run.result("a", {})
        self.assertIsNotNone(run.unobservable)
        run = self.run_of({"byId": {"c1": 1, "c2": 1}}, call("c1"), call("c2"))
        self.assertEqual(run.result("a", {}), 1)
        self.assertIsNone(run.unobservable)

    def test_what_a_framework_does_to_a_result_or_to_arguments_stays_its_own(self):
        run = Run(script([{"tool_calls": [call(n=[1])]}], {"a": {"byArgs": [[{"n": [1]}, ["r"]]]}}), list)
        run.ask([])
        run.result("a", {"n": [1]}).append("more")
        self.assertEqual(run.result("a", {"n": [1]}), ["r"])
        run = Run(script([{"tool_calls": [call("c1", n=1), call("c2", n=2)]}], {"a": {"byId": {"c1": 1, "c2": 2}}}), list)
        first, second = run.ask([]).calls
        first.args["n"] = second.args["n"]
        self.assertEqual((run.result("a", {"n": 1}), run.result("a", {"n": 2})), (1, 2))

    def test_by_arguments(self):
        run = self.run_of({"byArgs": [[{"x": 1}, "one"], [{"x": 2}, "two"]]})
        self.assertEqual((run.result("a", {"x": 2}), run.result("a", {"x": 3})), ("two", ""))


class Functions(unittest.TestCase):
    def run_of(self, *calls):
        return Run(script([{"tool_calls": list(calls)}], {"a": {"byArgs": [[{"x": 1}, "one"]]}, "b": [2]}), list)

    def test_a_function_has_the_parameters_that_the_model_will_call_it_with(self):
        function = self.run_of(call(x=1), call(x=1, y=[]), call(name="other", z=1)).function("a")
        self.assertEqual(str(inspect.signature(function)), "(*, x: Any, y: Any = None) -> Any")
        self.assertEqual(typing.get_type_hints(function), {"x": typing.Any, "y": typing.Any, "return": typing.Any})
        self.assertEqual((function.__name__, "    y: an argument" in function.__doc__), ("a", True))
        self.assertEqual(function(x=1), "one")

    def test_a_function_that_is_called_without_arguments_or_never_has_no_parameters(self):
        run = self.run_of(call())
        self.assertEqual([str(inspect.signature(run.function(name))) for name in "ab"], ["() -> Any"] * 2)
        self.assertEqual(run.function("b")(), 2)

    def test_an_argument_that_can_be_no_parameter_is_unsupported(self):
        for name in "x-y", "", "class", "1":
            run = self.run_of(call(**{name: 1}))
            run.function("a")
            self.assertIn("no name of a parameter", run.unobservable, name)


class Turns(unittest.TestCase):
    def test_each_kind_of_turn_and_of_result_is_played_as_it_stands(self):
        replies = exchange(*({"id": n, "op": "tools", "input": turns.input_of(case)} for n, case in enumerate(turns.CASES)))
        for n, case in enumerate(turns.CASES):
            with self.subTest(case["name"]):
                output = replies[n]["ok"]
                self.assertTrue(*turns.played(case, output))
                self.assertEqual("failure" in output, "failure" in case)
                self.assertIn(case.get("failure", ""), output.get("failure", ""))
                self.assertEqual(output["requests"], output["requestsAtEnd"])


class Json(unittest.TestCase):
    def test_equality_is_json_equality(self):
        self.assertTrue(same({"a": [1, None], "b": 2}, {"b": 2.0, "a": [1, None]}))
        for left, right in [(1, True), (0, False), ([1], [1, 2]), ({}, {"a": None}), ("1", 1), (None, False)]:
            self.assertFalse(same(left, right), (left, right))

    def test_text(self):
        self.assertEqual(to_json({"a": "é\ud83d"}), '{"a":"é\\ud83d"}')
        self.assertEqual(from_json("{'a': 1}"), "{'a': 1}")


if __name__ == "__main__":
    unittest.main()
