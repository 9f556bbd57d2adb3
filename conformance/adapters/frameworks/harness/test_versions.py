"""What a version is installed from, and that nothing half finished is kept."""

import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from . import recordings, versions
from .adapters import adapters, session_adapters
from .setting_up import NotFit


class Wanted(unittest.TestCase):
    def test_a_framework_or_an_entry_point_with_a_version_or_without(self):
        self.assertEqual(versions.parse("haystack@3.1.0"), ("haystack", "3.1.0"))
        self.assertEqual(versions.parse("haystack"), ("haystack", versions.NEWEST))
        self.assertEqual(versions.folder_of("ai-sdk-7-stream"), versions.folder_of("ai-sdk-7"))
        with self.assertRaisesRegex(ValueError, "no framework is called haystak; there are agent-framework, agno"):
            versions.folder_of("haystak")

    def test_every_framework_names_packages_that_it_depends_on(self):
        for path in versions.HERE.glob("*/framework.json"):
            packages = json.loads(path.read_text())["packages"]
            listed = next(path.parent / name for name in ("requirements.in", "package.json", "Cargo.toml") if (path.parent / name).exists()).read_text()
            for package in packages:
                self.assertIn(package, listed, path)


class Pins(unittest.TestCase):
    def test_the_framework_alone_is_pinned(self):
        text = "# what we want\nlangchain==1.4.7\nlanggraph-swarm>=0.1.0\n"
        self.assertEqual(versions.requirements(text, ["langchain"], "1.2"), ["langchain==1.2", "langgraph-swarm"])
        self.assertEqual(versions.requirements(text, ["langchain"], versions.NEWEST), ["langchain", "langgraph-swarm"])

    def test_node_itself_stays_as_it_is(self):
        manifest = {"name": "x", "dependencies": {"ai": "7.0.173", "zod": "4.6.7", "node": "22.23.3"}}
        self.assertEqual(versions.dependencies(manifest, ["ai"], "7.0.1")["dependencies"], {"ai": "7.0.1", "zod": "*", "node": "22.23.3"})
        self.assertEqual(versions.dependencies(manifest, ["ai"], versions.NEWEST)["dependencies"]["ai"], "latest")

    def test_crates_of_one_framework_have_one_version(self):
        text = '[dependencies]\nrig-agent = { version = "=0.44.0", default-features = false }\nrig-core = "=0.44.0"\nrig-core-more = "=1.0"\n'
        changed = '[dependencies]\nrig-agent = { version = "=0.40.0", default-features = false }\nrig-core = "=0.40.0"\nrig-core-more = "=1.0"\n'
        self.assertEqual(versions.crates(text, ["rig-agent", "rig-core"], "0.40.0"), changed)


class Fits(unittest.TestCase):
    def run_of(self, version="1.0", **verdicts):
        return {"testee": {"implementation": {"version": version}}, "summary": {"verdicts": verdicts}}

    def test_a_run_of_another_version_is_refused(self):
        versions.require_fit(self.run_of(**{"pass": 9, "fail": 90}), "1.0")
        versions.require_fit(self.run_of(**{"pass": 9}), versions.NEWEST)
        with self.assertRaisesRegex(NotFit, "version 1.1 was asked for, and the adapter says that it runs 1.0"):
            versions.require_fit(self.run_of(**{"pass": 9}), "1.1")

    def test_an_adapter_that_cannot_talk_to_the_framework_accuses_nobody(self):
        for verdicts in {"pass": 3, "rejected": 2, "crash": 1}, {"crash": 600}, {"unsupported": 9}:
            with self.assertRaisesRegex(NotFit, "does not fit version 1.0"):
                versions.require_fit(self.run_of(**verdicts), "1.0")


class Kept(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def keep(self, *names):
        recordings.keep(self.root, {self.root / name: "said\n" for name in names}, {name: "2026-01-02" for name in names})

    def files(self):
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())

    def test_recordings_get_their_names_when_all_are_whole(self):
        self.keep("one.xz", "sessions/one.xz")
        self.keep("two.xz")
        self.assertEqual(self.files(), ["days.json", "one.xz", "sessions/one.xz", "two.xz"])
        self.assertEqual(list(json.loads((self.root / "days.json").read_text())), ["one.xz", "sessions/one.xz", "two.xz"])

    def test_what_is_superseded_goes_with_its_day(self):
        self.keep("one@1.0.xz", "one@1.1.xz")
        old = mock.Mock(day="one@1.0.xz", recording=self.root / "one@1.0.xz")
        recordings.keep(self.root, {self.root / "one@1.2.xz": "said\n"}, {"one@1.2.xz": "2026-01-03"}, [old])
        self.assertEqual(self.files(), ["days.json", "one@1.1.xz", "one@1.2.xz"])
        self.assertEqual(list(json.loads((self.root / "days.json").read_text())), ["one@1.1.xz", "one@1.2.xz"])

    def test_one_framework_alone_keeps_all_its_versions(self):
        folders = {folder.parent.name: json.loads(folder.read_text()).get("trend", False) for folder in versions.HERE.glob("*/framework.json")}
        trend, = (name for name, has_trend in folders.items() if has_trend)
        for adapter in [*adapters(), *session_adapters()]:
            kept = versions.recorded(adapter)
            if adapter.folder.name == trend:
                self.assertEqual(versions.superseded(adapter, "9.9"), [])
            else:
                self.assertLessEqual(len(kept), 1, adapter.day)
                self.assertEqual([one.id for one in versions.superseded(adapter, "9.9")], [one.id for one in kept])

    def test_what_fails_while_it_is_written_leaves_nothing(self):
        self.keep("one.xz")
        days = (self.root / "days.json").read_text()
        whole = Path.write_bytes

        def full(path, text):
            whole(path, text[:3])
            if "three" in path.name:
                raise OSError("no space left on device")

        with mock.patch.object(Path, "write_bytes", full), self.assertRaises(OSError):
            self.keep("two.xz", "three.xz")
        self.assertEqual(self.files(), ["days.json", "one.xz"])
        self.assertEqual((self.root / "days.json").read_text(), days)


if __name__ == "__main__":
    unittest.main()
