import json
import unittest

from adapter import answer, read_and_answer


class Adapter(unittest.TestCase):
    def test_hello_says_who_this_is(self):
        hello = answer({"id": 0, "op": "hello", "protocol": 1})["ok"]
        self.assertEqual(hello["protocol"], 1)
        self.assertIn("escape", hello["ops"])

    def test_escape_replaces_five_characters(self):
        reply = answer({"id": 7, "op": "escape", "input": {"text": "<a & 'b'>"}})
        self.assertEqual(reply, {"id": 7, "ok": "&lt;a &amp; &apos;b&apos;&gt;"})

    def test_a_line_that_the_parser_refuses_is_rejected(self):
        for value in (b"[" * 100_000 + b"]" * 100_000, b"1" * 5000):
            reply = json.loads(read_and_answer(b'{"id":9,"op":"escape","input":' + value + b"}\n"))
            self.assertEqual((reply["id"], reply["reject"]["kind"]), (9, "invalid-input"))

    def test_what_is_not_there_yet_is_unsupported(self):
        self.assertEqual(answer({"id": 8, "op": "none", "input": {}}), {"id": 8, "unsupported": "not done yet"})


if __name__ == "__main__":
    unittest.main()
