"""Installing what a folder pins, and running commands under a limit of time."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from .adapters import ROOT
from .known import file_of
from .processes import Processes

SETUP_LIMIT = 1800
PROCESSES = Processes()


class NotReady(Exception):
    """An adapter that could not be set up, or did not run."""


class NotFit(NotReady):
    """An adapter that cannot talk to what is installed."""


def set_up(adapter, log):
    """Installs exactly what the lock file of the folder names, unless that was done already. Who has no lock file is installed already."""
    if not adapter.runtime:
        return
    folder = adapter.folder
    if adapter.runtime == "rust":
        # Cargo itself knows what has changed.
        lock, environment = folder / "Cargo.lock", folder / "target"
        steps = [["cargo", "build", "--quiet", "--locked", "--target-dir", str(environment)]]
    elif adapter.runtime == "python":
        lock, environment = folder / "requirements.txt", folder / ".venv"
        steps = [
            [sys.executable, "-m", "venv", "--clear", str(environment)],
            [str(environment / "bin/python"), "-m", "pip", "install", "--quiet", "--no-compile", "--no-deps", "-r", str(lock)],
        ]
    else:
        lock, environment = folder / "package-lock.json", folder / "node_modules"
        steps = [["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]]
    installed, wanted = environment / ".installed", hashlib.sha256(lock.read_bytes()).hexdigest()
    if adapter.runtime != "rust" and installed.exists() and installed.read_text() == wanted:
        return
    for step in steps:
        if (code := execute(step, SETUP_LIMIT, log, cwd=folder)) != 0:
            raise NotReady(f"setup: `{step[0]}` {'ran out of time' if code is None else f'ended with {code}'}; see {log.name}")
    installed.write_text(wanted)


def verify(adapter, options, log, more=()):
    """Runs the corpus against one adapter; returns its summary for the table, and the path of what was said."""
    report, transcript = options.out / f"{adapter.id}.json", options.out / f"{adapter.id}.transcript.jsonl"
    report.unlink(missing_ok=True)
    transcript.unlink(missing_ok=True)
    known = None if options.ignore_known_failures else file_of(adapter, options.threadspec)
    command = [options.threadspec, "verify", "--profile", "universal", "--timeout", str(options.case_timeout), "--quiet", "--corpus", "golden", *more]
    # What an adapter cannot see is no fault. Its known failures must fail: so it cannot come to see less unnoticed.
    command += ["--max-unsupported", "1000"]
    command += [f"--filter={glob}" for glob in options.filter]
    command += ["--known-failures", str(known)] if known else []
    command += ["--report", f"json={report}", "--transcript", str(transcript), *adapter.testee]
    code = execute(command, options.timeout, log, cwd=ROOT, **in_memory())
    if code is None:
        raise NotReady(f"no end within {options.timeout} s")
    if code == 3:
        raise NotFit(f"its adapter does not start; see {log.name}")
    if code not in (0, 1, 5) or not report.exists():
        raise NotReady(f"threadspec ended with {code}; see {log.name}")
    return {0: "as known" if "--known-failures" in command else "conformant", 1: "not conformant", 5: "a known failure is out of date"}[code], transcript


def execute(command, limit, log, cwd, **variables):
    """The exit code of a command, or None if it was ended at the time limit with all that it had started."""
    log.write(f"$ {' '.join(command)}\n")
    log.flush()
    return PROCESSES.run(command, limit, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=cwd, env=environment() | variables)


def environment():
    """That of this process, in which Python keeps the bytecode of what it imports: pip is told to compile nothing, and where Python is told to keep
    nothing either, each start compiles the whole framework again. It takes two thirds of it, and a case with `kill` starts twice or more. Node
    collects its young objects less often: a twentieth of what some frameworks take."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"NODE_OPTIONS": "--max-semi-space-size=32"} | kept


def in_memory(folder=Path("/dev/shm")):
    """Has stores of sessions in memory, where there is such a folder: what they keep outlives their processes there, too, and they flush it after
    every message, which on a busy disk takes longer than everything else."""
    return {"TMPDIR": str(folder)} if "TMPDIR" not in os.environ and os.access(folder, os.W_OK) else {}


def counts(report):
    """How often each verdict was given, from a run file."""
    tally = {}
    for case in json.loads(report.read_text())["cases"]:
        tally[case["verdict"]] = tally.get(case["verdict"], 0) + 1
    return " ".join(f"{verdict} {count}" for verdict, count in sorted(tally.items()))
