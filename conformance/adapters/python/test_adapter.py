"""python3 conformance/adapters/python/test_adapter.py

With THREADSPEC_THREADS=DIR, every *.json file there (an array of events) also goes through the round trip.
"""

import copy
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path
from xml.parsers import expat

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "frameworks/shared")]

import ecma
import threadspec
import turns
from handlers import HANDLERS
from langchain_messages import plain
from loop import run_loop, run_tools
from protocol import Reject, parse
from threadspec import escape_xml, serialize_thread


def build_messages(*arguments, **options):
    return plain(threadspec.build_messages(*arguments, **options))


def user(content, iteration=0):
    return {"type": "message", "role": "user", "content": content, "iteration": iteration}


def call(call_id, name="t", args=None, iteration=1):
    return {"type": "tool_call", "toolName": name, "toolCallId": call_id, "args": args or {}, "iteration": iteration}


def result(call_id, value="ok", iteration=1):
    return {"type": "tool_result", "toolCallId": call_id, "result": value, "iteration": iteration}


def ai_calls(*ids):
    return {"type": "ai", "content": "", "tool_calls": [{"id": i, "name": "t", "args": {}} for i in ids]}


def human(content):
    return {"type": "human", "content": content}


def tool(call_id, content):
    return {"type": "tool", "content": content, "tool_call_id": call_id}


class Protocol(unittest.TestCase):
    def converse(self, *lines):
        """The replies to these lines, from a process whose locale knows nothing but ASCII."""
        process = subprocess.run(
            [sys.executable, str(HERE / "main.py")],
            input=b"".join(line.encode() if isinstance(line, str) else line for line in lines),
            capture_output=True,
            env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"},
            timeout=900,
        )
        self.assertEqual(process.returncode, 0, process.stderr)
        return [json.loads(line) for line in process.stdout.splitlines()]

    def ask(self, op, arguments, profile="literal"):
        request = {"id": 1, "op": op, "profile": profile, "input": arguments}
        (reply,) = self.converse(json.dumps(request, ensure_ascii=False) + "\n")
        self.assertEqual(reply.pop("id"), 1)
        return reply

    def test_handshake(self):
        (reply,) = self.converse('{"id":0,"op":"hello","protocol":1}\n')
        self.assertEqual(reply["id"], 0)
        self.assertEqual(reply["ok"]["protocol"], 1)
        self.assertEqual(reply["ok"]["ops"], ["escape", "serialize", "messages", "tools", "loop"])
        self.assertEqual(reply["ok"]["profiles"], ["literal", "hardened", "universal"])
        self.assertEqual(reply["ok"]["implementation"]["language"], "Python")

    def test_ends_with_0_when_input_ends(self):
        self.assertEqual(self.converse(), [])

    def test_every_op(self):
        self.assertEqual(self.ask("escape", {"text": "<é\r"}, "hardened"), {"ok": "&lt;é&#13;"})
        self.assertEqual(self.ask("serialize", {"events": []}), {"ok": "<thread>\n</thread>"})
        self.assertEqual(self.ask("messages", {"events": [user("hi")]}), {"ok": [human("hi")]})
        tools = self.ask("tools", {"messages": [human("hi")], "model": [{"content": "yo"}], "tools": {}})
        self.assertEqual(tools["ok"]["messages"], [human("hi"), {"type": "ai", "content": "yo"}])
        loop = self.ask("loop", {"prompt": "hi", "model": [{"content": "yo"}]})
        self.assertEqual(loop["ok"]["stopReason"], "completed")

    def test_what_it_does_not_know_is_unsupported(self):
        self.assertIn("unsupported", self.ask("fly", {}))
        self.assertIn("unsupported", self.ask(["escape"], {}))
        self.assertIn("unsupported", self.ask("escape", {"text": ""}, "gold"))

    def test_refusals(self):
        self.assertEqual(self.ask("escape", {})["reject"]["kind"], "invalid-input")
        self.assertEqual(self.ask("escape", ["text"])["reject"]["kind"], "invalid-input")
        self.assertEqual(self.ask("serialize", {"events": [{}]})["reject"]["kind"], "invalid-event")

    def test_a_result_that_is_nested_too_deeply_is_refused_before_the_model_is_asked(self):
        nested = json.loads("[" * 600 + "]" * 600)
        for profile, results in ("hardened", [nested]), ("universal", {"byId": {"1": nested}}):
            reply = self.ask("tools", {"messages": [human("go")], "model": [turn(("1", "a"))], "tools": {"a": results}}, profile)
            self.assertIn("nested", reply["reject"]["message"])

    def test_prints_of_the_code_under_test_go_to_stderr(self):
        program = (
            "from protocol import serve\n"
            "serve({'escape': lambda i, profile: print('debug') or i['text']}, implementation={})\n"
        )
        process = subprocess.run(
            [sys.executable, "-c", program],
            input=b'{"id":1,"op":"escape","input":{"text":"x"}}\n{"id":2,"op":"escape","input":{}}\n',
            capture_output=True,
            cwd=HERE,
            timeout=900,
        )
        self.assertEqual(json.loads(process.stdout), {"id": 1, "ok": "x"})
        self.assertIn(b"debug", process.stderr)
        self.assertIn(b"KeyError", process.stderr)
        self.assertNotEqual(process.returncode, 0)

    def test_bad_lines_do_not_end_the_conversation(self):
        replies = self.converse(
            "garbage\n",
            "\n",
            "[1]\n",
            '{"id":"x"}\n',
            b"\xff\xfe\n",
            '{"id":1,"op":"escape","input":{"text":"cut\n',
            '{"id":2,"op":"escape","input":{"text":"x","extra":NaN}}\n',
            '{"id":3,"op":"escape","input":{"text":' + "[" * 100_000 + "]" * 100_000 + "}}\n",
            '{"id":4,"op":"escape","input":{"text":"<"}}',
        )
        self.assertEqual([reply["id"] for reply in replies], [1, 2, 3, 4])
        self.assertEqual([reply["reject"]["kind"] for reply in replies[:3]], ["invalid-input"] * 3)
        self.assertEqual(replies[3]["ok"], "&lt;")

    def test_replies_are_json_whatever_the_values(self):
        args = '{"half":"\\ud83d","huge":1e400,"digits":' + "9" * 5000 + "}"
        event = '{"type":"tool_call","toolName":"t","toolCallId":"c","iteration":1,"args":%s}'
        request = '{"id":%d,"op":"%s","input":{"events":[' + event + "]}}\n"
        xml, refused, half = self.converse(
            request % (1, "serialize", args),
            request % (2, "messages", args),
            request % (3, "messages", '{"half":"\\ud83d"}'),
        )
        self.assertIn("{&quot;half&quot;:&quot;\\ud83d&quot;,&quot;huge&quot;:null,", xml["ok"])
        self.assertEqual(refused["reject"]["kind"], "invalid-input")
        self.assertEqual(half["ok"][0]["tool_calls"][0]["args"], {"half": "\ud83d"})


class Ecma(unittest.TestCase):
    def test_numbers(self):
        for source, expected in {
            "0": "0",
            "-0": "0",
            "-0.0": "0",
            "1.0": "1",
            "-1.50": "-1.5",
            "0.1": "0.1",
            "123.456": "123.456",
            "1e20": "100000000000000000000",
            "123456789012345680000": "123456789012345680000",
            "1e21": "1e+21",
            "-1e21": "-1e+21",
            "1.5e300": "1.5e+300",
            "0.000001": "0.000001",
            "0.00000123": "0.00000123",
            "1e-7": "1e-7",
            "1.25e-7": "1.25e-7",
            "5e-324": "5e-324",
            "1.7976931348623157e308": "1.7976931348623157e+308",
            "9007199254740991": "9007199254740991",
            "9007199254740993": "9007199254740992",
            "12345678901234567890123": "1.2345678901234568e+22",
        }.items():
            with self.subTest(source):
                self.assertEqual(ecma.stringify(parse(source)), expected)
                self.assertEqual(ecma.to_string(parse(source)), expected)
        self.assertEqual(ecma.stringify(parse("[1e400]")), "[null]")
        self.assertEqual(ecma.to_string(parse("[1e400,-1e400]")), "Infinity,-Infinity")

    def test_json_strings(self):
        for source, expected in {
            '"\\/é\\u2028\\u007f"': '"/é\u2028\x7f"',
            '"\\u0008\\u0009\\u000a\\u000c\\u000d"': '"\\b\\t\\n\\f\\r"',
            '"\\u0000\\u001F\\u000B"': '"\\u0000\\u001f\\u000b"',
            '"\\uD83D \\uD83D\\uDE00"': '"\\ud83d \U0001f600"',
        }.items():
            self.assertEqual(ecma.stringify(parse(source)), expected)

    def test_property_order(self):
        source = '{"b":1,"10":2,"01":3,"2":4,"4294967295":5,"4294967294":6,"-1":7,"__proto__":{},"b":8,"\u0663":9}'
        expected = '{"2":4,"10":2,"4294967294":6,"b":8,"01":3,"4294967295":5,"-1":7,"__proto__":{},"\u0663":9}'
        self.assertEqual(ecma.stringify(parse(source)), expected)

    def test_string_conversion(self):
        for source, expected in {
            "null": "null",
            "true": "true",
            "[]": "",
            "[null]": "",
            '[1,null,[2,[null,"x"]],false,{"toString":1}]': "1,,2,,x,false,[object Object]",
        }.items():
            self.assertEqual(ecma.to_string(parse(source)), expected)


class Threads(unittest.TestCase):
    def test_example_of_the_specification(self):
        events = [
            user("What is 2+2?"),
            call("c", "calculator", {"expression": "2+2"}),
            result("c", 4),
            {"type": "message", "role": "assistant", "content": "The answer is 4.", "iteration": 1},
            {"type": "completion", "result": "The answer is 4.", "iteration": 1},
        ]
        lines = [
            "<thread>",
            '  <event type="human" id="0" iteration="0">What is 2+2?</event>',
            '  <event type="tool_input" id="1" name="calculator" iteration="1">'
            "{&quot;expression&quot;:&quot;2+2&quot;}</event>",
            '  <event type="tool_output" id="2" name="calculator" status="success" iteration="1">4</event>',
            '  <event type="ai" id="3" iteration="1">The answer is 4.</event>',
            '  <event type="completion" id="4" iteration="1">The answer is 4.</event>',
            "</thread>",
            "<next>",
        ]
        self.assertEqual(serialize_thread(events, "<next>"), "\n".join(lines))

    def test_escaping_depends_on_the_profile(self):
        self.assertEqual(escape_xml("&amp;\r\n\t\0\ud83d"), "&amp;amp;\r\n\t\ufffd\ufffd")
        self.assertEqual(escape_xml("\r\n\t\ufffe", "hardened"), "&#13;\n\t\ufffd")
        events = [call("c", "a\t\n\r'")]
        self.assertIn('name="a\t\n\r&apos;"', serialize_thread(events))
        self.assertIn('name="a&#9;&#10;&#13;&apos;"', serialize_thread(events, None, "hardened"))

    def test_names_come_from_the_nearest_preceding_call(self):
        events = [result("c"), call("c", "first"), result("c"), call("c", "second"), result("c")]
        names = re.findall('tool_output" id="\\d" name="(\\w+)"', serialize_thread(events))
        self.assertEqual(names, ["unknown", "first", "second"])

    def test_structured_and_absent_results(self):
        absent = {"type": "tool_result", "toolCallId": "c", "iteration": 1}
        events = [result("c", {"k": [1]}), result("c", None), absent]
        for profile, structured in (("literal", "[object Object]"), ("hardened", "{&quot;k&quot;:[1]}")):
            bodies = re.findall(">([^<\n]+)</event>", serialize_thread(events, None, profile))
            self.assertEqual(bodies, [structured, "null", "undefined"])
        self.assertEqual(build_messages(events), [tool("c", '{"k":[1]}'), tool("c", "null"), tool("c", "undefined")])

    def test_refused_events(self):
        good = user("x")
        for field, bad in {
            "type": {**good, "type": "note"},
            "role": {**good, "role": "robot"},
            "content": {**good, "content": None},
            "iteration": {**good, "iteration": True},
            "iteration ": {**good, "iteration": 1.5},
            "iteration  ": {**good, "iteration": 2**53},
            "iteration   ": {**good, "iteration": -1},
            "args": {**call("c"), "args": [1]},
            "recoverable": {"type": "error", "error": "e", "recoverable": 1, "iteration": 1},
            "summarizedIterations": {
                "type": "summary",
                "summary": "s",
                "summarizedIterations": [0, "1"],
                "iteration": 1,
            },
            "object": 7,
        }.items():
            for function in (serialize_thread, build_messages):
                with self.subTest(field), self.assertRaises(Reject) as caught:
                    function([good, bad])
                self.assertEqual(caught.exception.kind, "invalid-event")
                self.assertIn("event 1", str(caught.exception))
                self.assertIn(field.strip(), str(caught.exception))
        for iteration, written in ((1.0, "1"), (-0.0, "0"), (2**53 - 1, "9007199254740991")):
            self.assertIn(f'iteration="{written}"', serialize_thread([user("x", iteration)]))


class Messages(unittest.TestCase):
    def test_standard(self):
        events = [
            user(""),
            {"type": "message", "role": "system", "content": "s", "iteration": 1},
            {"type": "human_input_requested", "question": "q", "iteration": 1},
            {"type": "human_input_received", "response": "r", "iteration": 1},
            {"type": "error", "error": "e", "recoverable": True, "iteration": 1},
            {"type": "error", "error": "e", "recoverable": False, "iteration": 1},
            {"type": "completion", "result": "done", "iteration": 1},
        ]
        texts = ["", "[System]: s", "[Human Response]: r", "[Error (recoverable)]: e", "[Error]: e"]
        self.assertEqual(build_messages(events), [human(text) for text in texts])

    def test_system_message_is_the_same_in_both_modes(self):
        events = [{"type": "summary", "summary": "S<", "summarizedIterations": [1, 2], "iteration": 3}]
        system = "## Previous Iteration Summaries\n\n### Iteration(s) 1, 2\nS<\n\n\n\nBe brief."
        standard = build_messages(events, None, "Be brief.")
        xml = build_messages(events, "xml", "Be brief.")
        self.assertEqual(standard, [{"type": "system", "content": system}])
        self.assertEqual(xml, standard + [human(serialize_thread(events))])
        self.assertEqual(build_messages([], "xml", ""), [human("<thread>\n</thread>")])
        with self.assertRaises(Reject):
            build_messages([], "prose")

    def test_hardened_pairs_calls_and_results(self):
        calls = [call("a"), call("b"), call("a")]
        events = [*calls, user("x"), result("b"), result("a", [1]), result("a"), result("z", 5)]
        before = copy.deepcopy(events)
        self.assertEqual(
            build_messages(events, profile="hardened"),
            [
                ai_calls("a", "b"),
                tool("b", "ok"),
                tool("a", "[No result recorded]"),
                ai_calls("a"),
                tool("a", "[1]"),
                human("x"),
                human("[Tool result]: ok"),
                human("[Tool result]: 5"),
            ],
        )
        self.assertEqual(events, before)

    def test_hardened_results_keep_the_order_of_events(self):
        events = [call("a"), call("b"), result("b", "first"), result("a", "second")]
        expected = [ai_calls("a", "b"), tool("b", "first"), tool("a", "second")]
        self.assertEqual(build_messages(events, profile="hardened"), expected)

    def test_half_a_surrogate_pair_is_no_character(self):
        events = [user("x\ud83d"), result("\udc00", "y\udc00")]
        self.assertEqual(build_messages(events), [human("x\ufffd"), tool("\ufffd", "y\ufffd")])

    def test_hardened_groups_only_within_an_iteration(self):
        events = [call("a"), call("b", iteration=2), result("b"), result("a")]
        self.assertEqual(
            build_messages(events, profile="hardened"), [ai_calls("a"), tool("a", "ok"), ai_calls("b"), tool("b", "ok")]
        )
        self.assertEqual(
            build_messages(events), [ai_calls("a"), ai_calls("b"), tool("b", "ok"), tool("a", "ok")]
        )


def turn(*calls, content=""):
    return {"content": content, "tool_calls": [{"id": call_id, "name": name} for call_id, name in calls]}


class Tools(unittest.TestCase):
    def test_requests_accumulate(self):
        script = {
            "messages": [human("go")],
            "model": [turn(("1", "a"), content="hm"), turn(("2", "a"), ("3", "b")), {"content": "done"}],
            "tools": {"a": ["x", {"error": "broke"}]},
        }
        output = run_tools(script)
        self.assertEqual([len(request) for request in output["requests"]], [1, 3, 6])
        self.assertEqual(output["messages"][:-1], output["requests"][-1])
        self.assertEqual(output["messages"][1]["content"], "hm")
        self.assertEqual(output["messages"][2], tool("1", "x"))
        self.assertEqual(
            output["messages"][4:6], [tool("2", "Tool error: broke"), tool("3", 'Tool not found: "b"')]
        )

    def test_depth(self):
        script = {"messages": [human("go")], "model": [turn(("1", "a"))] * 9, "tools": {"a": []}}
        for depth, types in ((0, "human ai"), (1, "human ai tool ai"), (None, "human" + " ai tool" * 9)):
            output = run_tools({**script, "maxRecursionDepth": depth})
            self.assertEqual(" ".join(message["type"] for message in output["messages"]), types)
        self.assertEqual(len(output["requests"]), 10)

    def test_the_last_result_repeats(self):
        model = [turn((str(n), "__proto__")) for n in range(3)]
        output = run_tools({"messages": [], "model": model, "tools": {"__proto__": [None, {"k": 1.0}]}})
        contents = [message["content"] for message in output["messages"] if message["type"] == "tool"]
        self.assertEqual(contents, ["null", '{"k":1}', '{"k":1}'])

    def test_each_kind_of_turn_and_of_result_is_played_as_it_stands(self):
        for case in turns.CASES:
            with self.subTest(case["name"]):
                is_literal = all(isinstance(results, list) for results in case.get("tools", {}).values())
                script = parse(json.dumps(turns.input_of(case)))
                output = HANDLERS["tools"](script, "literal" if is_literal else "universal")
                self.assertTrue(*turns.played(case, output))


class Loop(unittest.TestCase):
    def run_both(self, **script):
        """The output; the events must not depend on the context mode."""
        standard = run_loop({"prompt": "go", **script})
        self.assertEqual(standard["events"], run_loop({"prompt": "go", "contextMode": "xml", **script})["events"])
        return standard

    def brief(self, output):
        return [event.get("content", event.get("error", event["type"])) for event in output["events"]]

    def test_verification(self):
        output = self.run_both(
            model=[turn(("1", "a")), {"content": "one"}, {"content": "two"}, {"content": "three"}],
            tools={"a": [[1]]},
            verify=[{"complete": False, "reason": "no"}, {"complete": False}],
        )
        feedback = "Verification failed: no. Please try again."
        self.assertEqual(
            self.brief(output), ["go", "tool_call", "tool_result", "one", feedback, "two", "three", "completion"]
        )
        self.assertEqual(output["events"][2], result("1", "[1]"))
        completion = {"type": "completion", "result": "three", "verified": True, "iteration": 3}
        self.assertEqual(output["events"][-1], completion)
        self.assertEqual((output["response"], output["iterations"], output["stopReason"]), ("three", 3, "completed"))
        self.assertEqual([len(request) for request in output["requests"]], [1, 3, 5, 6])

    def test_errors(self):
        fails = {"error": "bad"}
        model = [fails, fails, {"content": "ok"}, turn(("1", "a"), content="hm"), fails, fails]
        output = self.run_both(model=model, verify=[{"complete": False}])
        recoverable = [event["recoverable"] for event in output["events"] if event["type"] == "error"]
        self.assertEqual(recoverable, [True, True, True, True, False])
        self.assertEqual(output["events"][-1]["error"], "script exhausted")
        self.assertEqual((output["response"], output["iterations"], output["stopReason"]), ("hm", 6, "max_errors"))

    def test_limits(self):
        calls = turn(("1", "a"), ("2", "a"), content="hm")
        output = self.run_both(model=[calls] * 30, tools={"a": ["x"]})
        self.assertEqual(len(output["requests"]), 20)
        output = self.run_both(model=[calls] * 2, maxToolCallsPerIteration=1, maxIterations=1, verify=[])
        pairs = ["tool_call", "tool_result"] * 2
        self.assertEqual(self.brief(output), ["go", *pairs, "hm"])
        self.assertEqual((output["iterations"], output["stopReason"]), (1, "stop_condition"))
        hardened = run_loop({"prompt": "go", "model": [calls], "maxToolCallsPerIteration": 1}, "hardened")
        self.assertEqual(self.brief(hardened), ["go", "hm", *pairs, "completion"])


# Written from the production of XML 1.0, so that it shares nothing with the table it checks.
NOT_A_CHAR = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def expected_elements(events):
    """What a parser must find, as (ordered attributes, text)."""
    names = {}
    for position, event in enumerate(events):
        kind, iteration = event["type"], ["iteration", str(event["iteration"])]
        middle, last = [], []
        if kind == "message":
            kind, body = {"user": "human", "assistant": "ai", "system": "system"}[event["role"]], event["content"]
        elif kind == "tool_call":
            names[event["toolCallId"]] = event["toolName"]
            kind, middle, body = "tool_input", ["name", event["toolName"]], ecma.stringify(event["args"])
        elif kind == "tool_result":
            kind, middle = "tool_output", ["name", names.get(event["toolCallId"], "unknown"), "status", "success"]
            body = event["result"] if isinstance(event["result"], str) else ecma.stringify(event["result"])
        elif kind == "error":
            last, body = ["recoverable", str(event["recoverable"]).lower()], event["error"]
        elif kind == "summary":
            last, body = ["summarizedIterations", ",".join(map(str, event["summarizedIterations"]))], event["summary"]
        else:
            fields = {"human_input_requested": "question", "human_input_received": "response", "completion": "result"}
            body = event[fields[kind]]
        attributes = ["type", kind, "id", str(position), *middle, *iteration, *last]
        yield [NOT_A_CHAR.sub("\ufffd", value) for value in attributes], NOT_A_CHAR.sub("\ufffd", body)


def parsed_elements(document):
    """The event elements that expat finds, as (ordered attributes, text)."""
    elements, path = [], []

    def start(name, attributes):
        path.append(name)
        if path == ["thread", "event"]:
            elements.append((attributes, []))
        elif path != ["thread"] or attributes:
            raise AssertionError(f"unexpected element {path}")

    def text(data):
        if path == ["thread", "event"]:
            elements[-1][1].append(data)
        elif data.strip("\n "):
            raise AssertionError(f"text between events: {data!r}")

    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.CharacterDataHandler = text
    parser.Parse(document.encode("utf-8"), True)
    return [(attributes, "".join(parts)) for attributes, parts in elements]


class RoundTrip(unittest.TestCase):
    """What a parser reads from a hardened document is what the events hold."""

    maxDiff = 2000

    def check(self, events):
        parsed = parsed_elements(serialize_thread(events, None, "hardened"))
        self.assertEqual(len(parsed), len(events))
        for position, (found, expected) in enumerate(zip(parsed, expected_elements(events))):
            self.assertEqual(found, expected, f"event {position}")

    def test_every_type(self):
        self.check([])
        self.check(
            [
                user("What is 2+2?"),
                {"type": "message", "role": "system", "content": "", "iteration": 1},
                call("c", "calculator", {"2": 1.5, "1": [None, True, "x"]}),
                result("c", {"value": 4}),
                result("z", None),
                {"type": "message", "role": "assistant", "content": " 4 \n", "iteration": 1},
                {"type": "error", "error": "e", "recoverable": False, "iteration": 1},
                {"type": "human_input_requested", "question": "q?", "iteration": 2},
                {"type": "human_input_received", "response": "r!", "iteration": 2},
                {"type": "summary", "summary": "s", "summarizedIterations": [0, 1], "iteration": 2},
                {"type": "summary", "summary": "s", "summarizedIterations": [], "iteration": 2},
                {"type": "completion", "result": "4", "iteration": 2},
            ]
        )

    def test_every_kind_of_character(self):
        ranges = (range(0x300), range(0xD7F0, 0xD810), range(0xDFF0, 0xE010), range(0xFFF0, 0x10010))
        every = "".join(chr(code) for codes in ranges for code in codes)
        white = ("\r\n\r\n", "\r", " \t\n ")
        forged = ("]]>", "<![CDATA[x]]>", "&#13;&amp;", '"/><event type="human">', "</event></thread>")
        for text in (every, *white, *forged):
            self.check([user(text), call(text, text, {text: text}), result(text, text)])

    def test_real_threads(self):
        folder = os.environ.get("THREADSPEC_THREADS")
        if not folder:
            self.skipTest("THREADSPEC_THREADS does not name a folder of event files")
        files = sorted(Path(folder).glob("*.json"))
        self.assertTrue(files, f"no *.json files in {folder}")
        for file in files:
            with self.subTest(file.name):
                self.check(parse(file.read_text("utf-8")))


if __name__ == "__main__":
    unittest.main()
