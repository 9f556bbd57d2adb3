"""A recording grows by new cases, and is not written anew."""

import json
import unittest

from .recordings import added


def transcript(cases, *lines):
    return "".join(f"{line}\n" for line in [json.dumps({"transcript": 1, "cases": cases}), *lines])


class Recordings(unittest.TestCase):
    def test_new_cases_are_added_with_numbers_of_their_own(self):
        old = transcript(["a", "b"], '{"request":{"id":2,"input":1.0},"reply":{"id":2,"ok":"\\ud83d"}}', '{"request":{"id":1},"reply":{"id":1}}')
        new = transcript(["c"], '{"request":{"id":1,"input":{"id":7}},"reply":{"id":1}}', '{"id":1,"reply":{"id":2}}', '{"shutdown":"x"}')
        head, *lines = added(old, new).splitlines()
        self.assertEqual(json.loads(head)["cases"], ["a", "b", "c"])
        self.assertEqual(lines[:2], old.splitlines()[1:])
        self.assertEqual(
            lines[2:],
            ['{"request":{"id":3,"input":{"id":7}},"reply":{"id":1}}', '{"id":3,"reply":{"id":2}}', '{"shutdown":"x"}'],
        )

    def test_a_line_ends_at_a_line_feed_alone(self):
        odd = '{"request":{"id":1,"input":"a\u2028b\x85c\x0bd\x1ce"},"reply":{"id":1}}'
        lines = added(transcript(["a"], odd), transcript(["b"], odd)).split("\n")
        self.assertEqual(lines[1:], [odd, odd.replace('"id":1,', '"id":2,'), ""])

    def test_a_case_that_is_there_is_not_added(self):
        with self.assertRaisesRegex(ValueError, "has b already"):
            added(transcript(["a", "b"]), transcript(["b"]))


if __name__ == "__main__":
    unittest.main()
