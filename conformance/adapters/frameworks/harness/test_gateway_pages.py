"""The section of MATRIX.md about gateways."""

import unittest

from .gateway_pages import section


class Section(unittest.TestCase):
    def test_it_has_the_rows_of_the_first_table_alone_and_links_to_the_page(self):
        page = "# Gateways\n\nWords.\n\n| gateway | plain |\n|---|---|\n| [one](#one) | SAID 2 |\n\n## one\n\n| clause | what |\n|---|---|\n| GATE-SAID | x |\n"
        lines = list(section(page.split("\n")))
        self.assertEqual(lines[-3:], ["| gateway | plain |", "|---|---|", "| [one](../gateways/GATEWAYS.md#one) | SAID 2 |"])
        self.assertNotIn("| GATE-SAID | x |", lines)
