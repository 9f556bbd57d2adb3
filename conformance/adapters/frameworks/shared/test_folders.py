"""What every folder of a framework must be: small, pinned, described."""

import json
import re
import tomllib
import unittest
from pathlib import Path

FRAMEWORKS = Path(__file__).resolve().parents[1]
FOLDERS = sorted(path.parent for path in FRAMEWORKS.glob("*/framework.json"))
PIN = re.compile(r"[A-Za-z0-9._-]+==[^=\s/@]+")


class Folders(unittest.TestCase):
    def test_there_are_twelve(self):
        self.assertGreaterEqual(len(FOLDERS), 12)

    def test_an_adapter_is_less_than_100_lines_and_a_readme_two(self):
        for folder in FOLDERS:
            adapter, *others = folder.glob("adapter.*")
            self.assertFalse(others, folder)
            self.assertLess(len(adapter.read_text().splitlines()), 100, adapter)
            readme, has_sessions, _ = (folder / "README.md").read_text().partition("\n\n## Sessions\n\n")
            self.assertEqual(len(readme.splitlines()), 2, folder)
            is_tried = "tried" in json.loads((folder / "framework.json").read_text())
            self.assertEqual(bool(has_sessions), is_tried or bool([*folder.glob("session.*")]), folder)
            self.assertFalse(is_tried and [*folder.glob("session.*")], folder)

    def test_a_session_adapter_is_less_than_150_lines(self):
        for folder in FOLDERS:
            for session in folder.glob("session.*"):
                self.assertLess(len(session.read_text().splitlines()), 150, session)

    def test_everything_is_pinned(self):
        for folder in FOLDERS:
            runtime = json.loads((folder / "framework.json").read_text())["runtime"]
            if runtime == "python":
                locked = (folder / "requirements.txt").read_text().split()
                wanted = (folder / "requirements.in").read_text().split()
                for line in locked:
                    self.assertTrue(PIN.fullmatch(line), f"{folder.name}: {line}")
                self.assertLessEqual(set(wanted), set(locked), folder)
            elif runtime == "rust":
                manifest = tomllib.loads((folder / "Cargo.toml").read_text())
                locked = {(package["name"], package["version"]) for package in tomllib.loads((folder / "Cargo.lock").read_text())["package"]}
                for name, wanted in manifest["dependencies"].items():
                    version = wanted if isinstance(wanted, str) else wanted["version"]
                    self.assertIn((name, version.removeprefix("=")), locked, folder)
                    self.assertTrue(version.startswith("="), f"{folder.name}: {name}")
            else:
                locked = (folder / "package-lock.json").read_text()
                self.assertNotIn('"link": true', locked, folder)
                for version in json.loads((folder / "package.json").read_text())["dependencies"].values():
                    self.assertRegex(version, r"^\d+\.\d+\.\d+$", folder)

    def test_every_adapter_has_a_small_recording(self):
        for folder in FOLDERS:
            for id in json.loads((folder / "framework.json").read_text()).get("variants") or [folder.name]:
                self.assertLess((FRAMEWORKS / f"recordings/{id}.jsonl.xz").stat().st_size, 512 * 1024, id)

    def test_what_was_read_is_what_is_pinned(self):
        claims = (FRAMEWORKS / "CLAIMS.md").read_text()
        pins = [("langchain-python", "langchain=="), ("pydantic-ai", "pydantic-ai-slim=="), ("agno", "agno=="), ("crewai", "crewai==")]
        for name, pin in [*pins, ("llama-index", "llama-index-core==")]:
            version = next(line for line in (FRAMEWORKS / name / "requirements.txt").read_text().split() if line.startswith(pin))
            self.assertIn(version.removeprefix(pin), claims, name)
        for name in "ai-sdk-6", "ai-sdk-7":
            self.assertIn(json.loads((FRAMEWORKS / name / "package.json").read_text())["dependencies"]["ai"], claims, name)

    def test_locks_name_no_machine(self):
        for lock in FRAMEWORKS.glob("*/package-lock.json"):
            for name, package in json.loads(lock.read_text())["packages"].items():
                source = package.get("resolved", "https://registry.npmjs.org/")
                self.assertTrue(source.startswith("https://registry.npmjs.org/"), f"{lock}: {name}: {source}")


if __name__ == "__main__":
    unittest.main()
