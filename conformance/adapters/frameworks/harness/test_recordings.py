"""A recording grows by new cases, and is not written anew."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import clients
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


class OverTheWire(unittest.TestCase):
    def test_new_cases_of_one_mode_leave_the_others_as_they_are(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(mock.patch.object(clients, "WIRE", folder))
        chat, messages = (clients.Client(f"one.{api}", folder / "one", "python", [], api) for api in ("openai-chat", "anthropic"))

        def said(client, *cases):
            line = '{"request":{"id":1},"reply":{"id":1}}'
            return (json.dumps({"transcript": 1, "options": {"provider": client.mode}, "cases": cases}) + f"\n{line}\n").encode().replace(b'{"transcript": 1', b'{"transcript":1')

        clients.record(chat, said(chat, "a"))
        clients.record(messages, said(messages, "a"))
        clients.record(chat, said(chat, "b", "c"), is_part=True)
        kept = clients.recorded(chat.recording)
        self.assertEqual(kept["anthropic"], said(messages, "a"))
        head, *lines = kept["openai-chat"].decode().splitlines()
        self.assertEqual((json.loads(head)["cases"], len(lines)), (["a", "b", "c"], 2))
        # The first cases of a mode, though part of them, are all that there is.
        streamed = clients.Client("one.anthropic.stream", folder / "one", "python", [], "anthropic", True)
        clients.record(streamed, said(streamed, "a"), is_part=True)
        self.assertEqual(clients.recorded(chat.recording)["anthropic:stream"], said(streamed, "a"))


if __name__ == "__main__":
    unittest.main()
