"""What every folder of a framework must be: small, pinned, described."""

import json
import re
import tomllib
import unittest
from pathlib import Path

FRAMEWORKS = Path(__file__).resolve().parents[1]
FOLDERS = sorted(path.parent for path in FRAMEWORKS.glob("*/framework.json"))
PIN = re.compile(r"[A-Za-z0-9._-]+==[^=\s/@]+")


def described(folder):
    """Returns the texts about a framework."""
    return tomllib.loads((folder / "about.toml").read_text())


class Folders(unittest.TestCase):
    def test_there_are_twelve(self):
        self.assertGreaterEqual(len(FOLDERS), 12)

    def test_an_adapter_is_less_than_100_lines_and_described(self):
        for folder in FOLDERS:
            adapter, *others = folder.glob("adapter.*")
            self.assertFalse(others, folder)
            self.assertLess(len(adapter.read_text().splitlines()), 100, adapter)
            about = described(folder)
            self.assertTrue(about["messages"] and about["requests"], folder)
            is_tried = "tried" in json.loads((folder / "framework.json").read_text())
            self.assertEqual("sessions" in about, is_tried or bool([*folder.glob("session.*")]), folder)
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
        read = 0
        for folder in FOLDERS:
            for pin in filter(None, described(folder).get("read", "").split(", ")):
                package, version = pin.split(" ")
                read += 1
                if (folder / "requirements.txt").exists():
                    self.assertIn(f"{package}=={version}", (folder / "requirements.txt").read_text().split(), folder)
                else:
                    self.assertEqual(json.loads((folder / "package.json").read_text())["dependencies"][package], version, folder)
        self.assertGreaterEqual(read, 14)

    def test_a_fault_that_was_read_is_a_verdict_or_has_a_reproduction(self):
        blocks = {block.split(" ")[0]: block for block in (FRAMEWORKS / "verdicts.txt").read_text().split("\n\n")}
        for folder in FOLDERS:
            ids = json.loads((folder / "framework.json").read_text()).get("variants") or [folder.name]
            for clause in described(folder).get("faults", {}):
                # A case that another clause is charged with may still show this one.
                is_shown = any(f"\n  {clause} " in blocks[id] for id in ids) or any(folder.glob(f"repro/{clause}.*"))
                self.assertTrue(is_shown, f"{folder.name}: nothing shows that it breaks {clause}")

    def test_locks_name_no_machine(self):
        for lock in FRAMEWORKS.glob("*/package-lock.json"):
            for name, package in json.loads(lock.read_text())["packages"].items():
                source = package.get("resolved", "https://registry.npmjs.org/")
                self.assertTrue(source.startswith("https://registry.npmjs.org/"), f"{lock}: {name}: {source}")


if __name__ == "__main__":
    unittest.main()
