"""The adapters, by the `framework.json` of each folder, and the runner that judges them."""

import argparse
import json
import lzma
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[2]
# What is made from the recordings and kept nowhere else: pages and files of known failures, each below the path that its links start from.
MADE = ROOT / "target/made"


@dataclass
class Adapter:
    """One column of the matrix: a framework, or one of its entry points."""

    id: str
    folder: Path
    runtime: str
    arguments: list = field(default_factory=list)

    @property
    def interpreter(self):
        # Relative to the root of a checkout, where `threadspec` starts the adapters, so that the commands it prints work there.
        folder = self.folder.relative_to(ROOT)
        if self.runtime == "python":
            return str(folder / ".venv/bin/python")
        own = folder / "node_modules/node/bin/node"
        return str(own) if (ROOT / own).exists() else "node"

    @property
    def command(self):
        return self.start(next(self.folder.glob("adapter.*")))

    @property
    def testee(self):
        """What `verify` is told to test."""
        return ["--", *self.command]

    def start(self, source):
        """The command that runs the adapter, or one of its reproductions."""
        if self.runtime == "rust":
            return [str(self.folder.relative_to(ROOT) / "target/debug" / source.stem)]
        return [self.interpreter, str(source.relative_to(ROOT)), *self.arguments]

    @property
    def known_failures(self):
        """Where `run` makes the file of known failures."""
        return made(HERE / f"known-failures/{self.id}.toml")

    @property
    def notes(self):
        """What the framework documents as its choice."""
        return self.folder / "notes.toml"

    @property
    def all_notes(self):
        """All files with choices that count for it."""
        return [self.notes]

    @property
    def day(self):
        """Its name in `recordings/days.json`."""
        return self.id

    @property
    def reproductions(self):
        """The scripts of the folder by clause. One with a second suffix is for the entry point of that name alone."""
        own = {f".{argument}" for argument in self.arguments}
        scripts = [script for script in sorted(self.folder.glob("repro/*.*")) if not script.name.startswith(("session-", "scripted."))]
        return {script.name.split(".")[0]: script for script in scripts if own.issuperset(script.suffixes[:-1])}

    @property
    def more_reproductions(self):
        """Scripts that show other faults of a clause than `reproductions` does, by clause."""
        return {}

    @property
    def recording(self):
        return HERE / f"recordings/{self.id}.jsonl.xz"

    @property
    def transcript(self):
        """What was said in its recording; None if there is none."""
        return lzma.decompress(self.recording.read_bytes()) if self.recording.exists() else None


class OfSessions:
    """What is said of sessions beside what is said of single runs: with notes and a day of its own."""

    @property
    def notes(self):
        return self.folder / "session-notes.toml"

    @property
    def day(self):
        return f"sessions of {self.id}"


class SessionAdapter(OfSessions, Adapter):
    """The adapter of a folder behind op `session`, which has one entry point."""

    @property
    def command(self):
        return self.start(next(self.folder.glob("session.*")))

    @property
    def known_failures(self):
        return made(HERE / f"known-failures/sessions/{self.id}.toml")

    @property
    def reproductions(self):
        """The scripts of the folder by clause: `session-VALID.py` shows a breach of SESSION-VALID. Clauses of a single run have theirs already."""
        scripts = [script for script in sorted(self.folder.glob("repro/session-*.*")) if len(script.suffixes) == 1]
        return {**super().reproductions, **{script.stem.upper(): script for script in scripts}}

    @property
    def more_reproductions(self):
        """`session-APPROVED.one-of-two.py` shows another breach of SESSION-APPROVED than `session-APPROVED.py`."""
        found = {}
        for script in sorted(self.folder.glob("repro/session-*.*.*")):
            found.setdefault(script.name.split(".")[0].upper(), []).append(script)
        return found

    @property
    def recording(self):
        return HERE / f"recordings/sessions/{self.id}.jsonl.xz"


def made(path, root=MADE):
    """Where a file is made that has this path in the checkout for its links."""
    return root / path.relative_to(ROOT)


def session_adapters():
    """All adapters behind op `session`."""
    found = []
    for path in sorted(HERE.glob("*/framework.json")):
        if [*path.parent.glob("session.*")]:
            found.append(SessionAdapter(path.parent.name, path.parent, json.loads(path.read_text())["runtime"]))
    return found


def tried():
    """The frameworks that were tried for sessions and have no memory for them: folder, why, the page that says so."""
    manifests = {path.parent.name: json.loads(path.read_text()) for path in sorted(HERE.glob("*/framework.json"))}
    return [(folder, manifest["tried"]["why"], manifest["tried"]["link"]) for folder, manifest in manifests.items() if "tried" in manifest]


def adapters():
    """All adapters behind op `tools`."""
    found = []
    for path in sorted(HERE.glob("*/framework.json")):
        manifest = json.loads(path.read_text())
        variants = manifest.get("variants") or {path.parent.name: []}
        found += [Adapter(id, path.parent, manifest["runtime"], arguments) for id, arguments in variants.items()]
    return found


def program(name):
    """The path of the runner that was named, absolute, since commands start in other folders."""
    if not (found := shutil.which(name)):
        raise argparse.ArgumentTypeError(f"{name} is no program")
    return os.path.abspath(found)


def build():
    """The runner of this checkout."""
    if not shutil.which("cargo"):
        sys.exit("cargo is missing; name a runner with --threadspec")
    subprocess.run(["cargo", "build", "--quiet", "--package", "threadspec-conformance"], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return str(target / "debug/threadspec")
