"""FRAMEWORKS.md: every text of each `about.toml` is on it."""

import unittest

from . import about


class Page(unittest.TestCase):
    def test_it_has_every_text_of_every_framework(self):
        page = "\n".join(about.page())
        self.assertGreater(len(about.folders()), 15)
        for folder in about.folders():
            self.assertIn(f"\n## {folder.name}\n", page)
            texts = about.about(folder)
            self.assertLessEqual(set(texts), {*about.LABELS, "sessions", "faults"}, folder.name)
            self.assertLessEqual(set(texts.get("sessions", {})), set(about.OF_SESSIONS), folder.name)
            parts = [text for text in texts.values() if isinstance(text, str)]
            for text in [*parts, *texts.get("sessions", {}).values(), *texts.get("faults", {}).values()]:
                self.assertIn(text, page, folder.name)

    def test_a_fault_has_its_clause_beside_it(self):
        self.assertIn("\n| AGENT-FAILURE-TOLD | All unknown tools get one answer, which does not name the tool. |", "\n".join(about.page()))


if __name__ == "__main__":
    unittest.main()
