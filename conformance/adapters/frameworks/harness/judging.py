"""Recordings, as the runner judges them now."""

import concurrent.futures
import contextlib
import json
import subprocess
import tempfile
from pathlib import Path

from .adapters import ROOT


def judge(name, transcript, threadspec, scratch):
    """The run file of a recording, as it is judged now. Raises ValueError if the runner cannot read it."""
    said, report = scratch / f"{name}.jsonl", scratch / f"{name}.json"
    said.write_bytes(transcript)
    command = [threadspec, "judge", "--corpus", "golden", "--quiet", "--report", f"json={report}", str(said)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    said.unlink()
    if done.returncode not in (0, 1):
        raise ValueError(f"the recording of {name}: `judge` ended with {done.returncode}: {done.stderr.strip()}")
    return json.loads(report.read_text())


@contextlib.contextmanager
def all_at_once(threadspec):
    """Gives a function that makes what another function makes of many arguments, in order; that gets a way to judge a transcript, and an argument."""
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(2) as pool:

        def each(make, arguments):
            return pool.map(lambda argument: make(lambda name, transcript: judge(name, transcript, threadspec, Path(scratch)), argument), arguments)

        yield each
