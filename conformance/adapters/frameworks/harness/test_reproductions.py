"""A reproduction is printed as one file that stands alone."""

import ast
import re
import tempfile
import unittest
from pathlib import Path

from .adapters import HERE
from .reproductions import names_in, parsed, printed, scripted

SCRIPTED = '''"""What is shared."""

from looper import Agent, Model, tool

SENT = []
SAID = []


class Scripted(Model):
    def ask(self, messages):
        SENT.append(messages)


@tool
def look():
    """Looks at SAID."""
    return "r"
'''
SCENARIO = '''"""It fails. Exit code 1 if so."""

import os

os.environ["QUIET"] = "1"

from looper.stores import Store
from scripted import SENT, Agent, Scripted


def look():
    """Looks."""
    return None


Agent(Scripted(), [look], Store()).run("Go")
assert SENT, "tool"
'''
ALONE = '''"""It fails. Exit code 1 if so."""

import os

os.environ["QUIET"] = "1"

from looper import Agent, Model
from looper.stores import Store

SENT = []


class Scripted(Model):
    def ask(self, messages):
        SENT.append(messages)


def look():
    """Looks."""
    return None


Agent(Scripted(), [look], Store()).run("Go")
assert SENT, "tool"
'''


class Printed(unittest.TestCase):
    def file(self, name, text):
        folder = Path(self.enterContext(tempfile.TemporaryDirectory())) if not hasattr(self, "folder") else self.folder
        self.folder = folder
        (folder / name).write_text(text)
        return folder / name

    def test_python_has_what_it_needs_of_the_shared_file_and_no_more(self):
        self.file("scripted.py", SCRIPTED)
        self.assertEqual(printed(self.file("AGENT-IDS.py", SCENARIO)), ALONE)

    def test_javascript_too(self):
        shared = "// Shared.\nimport { Agent, tool } from 'looper';\n\nconst sent = [];\nconst model = {\n  ask(prompt) {\n    sent.push(prompt);\n  },\n};\nconst look = tool(() => 'r');\nexport { Agent, look, model, sent };\n"
        own = "// It fails.\nimport assert from 'node:assert/strict';\nimport { Agent, model, sent } from './scripted.mjs';\n\nawait new Agent({ model }).run('tool');\nassert.equal(sent.length, 2);\n"
        alone = "// It fails.\nimport assert from 'node:assert/strict';\nimport { Agent } from 'looper';\n\nconst sent = [];\nconst model = {\n  ask(prompt) {\n    sent.push(prompt);\n  },\n};\nawait new Agent({ model }).run('tool');\nassert.equal(sent.length, 2);\n"
        self.file("scripted.mjs", shared)
        self.assertEqual(printed(self.file("AGENT-IDS.mjs", own)), alone)

    def test_a_file_that_shares_nothing_is_printed_as_it_is(self):
        text = '"""It fails."""\n\nassert False\n'
        self.assertEqual(printed(self.file("AGENT-IDS.py", text)), text)

    def test_texts_and_members_are_no_names(self):
        self.assertEqual(names_in(['call.tool("look", f"{SENT}", *rest, key=[...others])']), {"call", "f", "SENT", "rest", "key", "others"})


class All(unittest.TestCase):
    def test_every_one_stands_alone_and_defines_what_it_uses(self):
        for path in sorted(HERE.glob("*/repro/*.*")):
            if path.stem == "scripted" or path.suffix not in (".py", ".mjs"):
                continue
            text = printed(path)
            self.assertNotRegex(text, r"scripted import|\./scripted|\btestee\b|shared/", path)
            self.assertLessEqual(len(text.splitlines()), 60 if path.name.startswith("session-") else 40, path)
            if path.suffix == ".py":
                self.assertEqual(unknown(text), set(), path)

    def test_nothing_is_shared_that_nobody_needs(self):
        for path in sorted(HERE.glob("*/repro/scripted.*")):
            needed = {name for other in path.parent.glob(f"*{path.suffix}") if other != path for name in re.findall(r"\w+", printed(other))}
            own = {name for statement in parsed(path).body for name in re.findall(r"(?:class|def|const) (\w+)|^(\w+) = ", statement)[:1] for name in name if name}
            self.assertLessEqual(own, needed, path)
            self.assertEqual(scripted(path), path)


def unknown(text):
    """The names that a Python file uses and nobody defines."""
    tree, builtins = ast.parse(text), set(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    stored |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))}
    stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    stored |= {node.name for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler) and node.name}
    stored |= {(name.asname or name.name).split(".")[0] for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom)) for name in node.names}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - stored - builtins - {"__file__", "__name__"}


if __name__ == "__main__":
    unittest.main()
