"""Versions of frameworks other than the pinned ones: an environment for each below `target/matrix/`, and their recordings."""

import json
import re
import shutil
import sys
from dataclasses import replace

from .adapters import HERE, ROOT, adapters, session_adapters
from .setting_up import SETUP_LIMIT, NotFit, NotReady, execute

ENVIRONMENTS = ROOT / "target/matrix"
# A version that nobody named: that which the registry gives.
NEWEST = "newest"
# Verdicts of an adapter that cannot talk to the framework.
STRANGE = ("rejected", "crash", "garbage", "timeout")


def parse(wanted):
    """`haystack@3.1.0` as a folder or an adapter, and a version; without one, the newest."""
    name, _, version = wanted.partition("@")
    return name, version or NEWEST


def folder_of(name):
    """The folder of a framework that is named by itself or by one of its adapters. Raises ValueError if there is none."""
    folders = {found: adapter.folder for adapter in [*adapters(), *session_adapters()] for found in (adapter.id, adapter.folder.name)}
    if name not in folders:
        raise ValueError(f"no framework is called {name}; there are {', '.join(sorted({folder.name for folder in folders.values()}))}")
    return folders[name]


def adapters_of(folder):
    """All adapters of a folder: one for each entry point, and that of sessions."""
    return [adapter for adapter in [*adapters(), *session_adapters()] if adapter.folder == folder]


def at(adapter, version):
    """The adapter under the name of a version, by which its recordings are kept."""
    return replace(adapter, id=f"{adapter.id}@{version}")


def recorded(adapter):
    """The versions of an adapter that have a recording beside that of the pinned one."""
    places = adapter.recording.parent.glob(f"{adapter.id}@*.jsonl.xz")
    return [at(adapter, version_of(path, adapter)) for path in sorted(places)]


def superseded(adapter, version):
    """What a recording of a version makes needless: those of all versions but the pinned one. One framework keeps them, for the trend."""
    if json.loads((adapter.folder / "framework.json").read_text()).get("trend"):
        return []
    return [other for other in recorded(adapter) if other.id != at(adapter, version).id]


def version_of(path, adapter):
    """The version in the name of a recording of an adapter."""
    return path.name.removeprefix(f"{adapter.id}@").removesuffix(".jsonl.xz")


def install(folder, version, log):
    """A copy of a folder in which a version of its framework is installed, with whatever dependencies the registry gives for it today."""
    whole = ENVIRONMENTS / f"{folder.name}@{version}"
    shutil.rmtree(whole, ignore_errors=True)
    copy = whole / folder.name
    # What is installed in the folder, and what is built there, is that of the pinned version.
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(".venv", "node_modules", "target", "__pycache__", "*.lock", "package-lock.json", "requirements.txt"))
    shutil.copytree(folder.parent / "shared", whole / "shared", ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
    manifest = json.loads((folder / "framework.json").read_text())
    for step in STEPS[manifest["runtime"]](copy, manifest["packages"], version):
        if (code := execute(step, SETUP_LIMIT, log, cwd=copy)) != 0:
            raise NotReady(f"{folder.name}@{version}: `{step[0]}` {'ran out of time' if code is None else f'ended with {code}'}; see {log.name}")
    return copy


def python(copy, packages, version):
    wanted = requirements((copy / "requirements.in").read_text(), packages, version)
    return [
        [sys.executable, "-m", "venv", "--clear", ".venv"],
        [".venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", *wanted],
    ]


def requirements(text, packages, version):
    """The packages of a `requirements.in`: the framework's own in one version, the others in any."""
    names = [re.split(r"[=<>!~;\s]", line.strip())[0] for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [f"{name}=={version}" if name in packages and version != NEWEST else name for name in names]


def node(copy, packages, version):
    path = copy / "package.json"
    path.write_text(json.dumps(dependencies(json.loads(path.read_text()), packages, version), indent=2) + "\n")
    return [["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]]


def dependencies(manifest, packages, version):
    """A `package.json` with the framework's own packages in one version, and the others in any; but for Node.js itself, which is no dependency."""
    wanted = "latest" if version == NEWEST else version
    found = {name: wanted if name in packages else kept if name == "node" else "*" for name, kept in manifest["dependencies"].items()}
    return {**manifest, "dependencies": found}


def rust(copy, packages, version):
    path = copy / "Cargo.toml"
    path.write_text(crates(path.read_text(), packages, version))
    return [["cargo", "build", "--quiet", "--target-dir", "target"]]


def crates(text, packages, version):
    """A `Cargo.toml` with the framework's own crates in one version."""
    wanted = "*" if version == NEWEST else f"={version}"
    for name in packages:
        text = re.sub(rf'^({re.escape(name)} = (?:\{{ version = )?)"[^"]*"', rf'\g<1>"{wanted}"', text, flags=re.MULTILINE)
    return text


STEPS = {"python": python, "node": node, "rust": rust}


def require_fit(run, version):
    """Raises NotFit for a run that says nothing of the framework: of another version than was asked for, or of an adapter that this version does not fit."""
    said = run["testee"]["implementation"]["version"]
    if version not in (NEWEST, said):
        raise NotFit(f"version {version} was asked for, and the adapter says that it runs {said}")
    counts = run["summary"]["verdicts"]
    strange = {verdict: counts[verdict] for verdict in STRANGE if counts.get(verdict)}
    if sum(strange.values()) >= counts.get("pass", 0):
        raise NotFit(f"the adapter does not fit version {said}: {counts.get('pass', 0)} cases pass, {', '.join(f'{count} {verdict}' for verdict, count in strange.items())}")
