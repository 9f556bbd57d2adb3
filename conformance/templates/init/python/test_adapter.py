import unittest

from adapter import answer


class Adapter(unittest.TestCase):
    def test_hello_says_who_this_is(self):
        hello = answer({"id": 0, "op": "hello", "protocol": 1})["ok"]
        self.assertEqual((hello["protocol"], hello["ops"]), (1, ["escape"]))

    def test_escape_replaces_five_characters(self):
        reply = answer({"id": 7, "op": "escape", "input": {"text": "<a & 'b'>"}})
        self.assertEqual(reply, {"id": 7, "ok": "&lt;a &amp; &apos;b&apos;&gt;"})

    def test_what_is_not_there_yet_is_unsupported(self):
        self.assertEqual(answer({"id": 8, "op": "loop", "input": {}}), {"id": 8, "unsupported": "not done yet"})


if __name__ == "__main__":
    unittest.main()
