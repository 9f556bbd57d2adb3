"""What commands are run with."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from .setting_up import environment, execute, in_memory


class Environment(unittest.TestCase):
    def test_python_keeps_the_bytecode_of_a_framework_from_start_to_start(self):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "framework.py").write_text("from sys import argv\n")
        with mock.patch.dict("os.environ", {"PYTHONDONTWRITEBYTECODE": "1", "OF_THE_USER": "kept"}), open(folder / "log", "w+") as log:
            said = "import framework, os, sys; print(os.environ['OF_THE_USER'], sys.dont_write_bytecode)"
            self.assertEqual(execute([sys.executable, "-c", said], 60, log, folder), 0)
            log.seek(0)
            self.assertEqual(log.read().splitlines()[-1], "kept False")
        self.assertTrue([*folder.glob("__pycache__/framework.*.pyc")])

    def test_node_collects_its_young_objects_less_often_unless_the_user_says_how(self):
        for of_the_user, options in [({}, "--max-semi-space-size=32"), ({"NODE_OPTIONS": "--no-warnings"}, "--no-warnings")]:
            with mock.patch.dict("os.environ", of_the_user, clear=True):
                self.assertEqual(environment(), {"NODE_OPTIONS": options})

    def test_stores_are_in_memory_unless_the_user_says_where(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        with mock.patch.dict("os.environ", clear=True):
            self.assertEqual(in_memory(Path(folder)), {"TMPDIR": folder})
            self.assertEqual(in_memory(Path(folder) / "absent"), {})
        with mock.patch.dict("os.environ", {"TMPDIR": "of the user"}):
            self.assertEqual(in_memory(Path(folder)), {})


if __name__ == "__main__":
    unittest.main()
