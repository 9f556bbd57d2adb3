"""What a run costs: `corpus.py [THREADSPEC]`, with Node.js on the path. Takes ten minutes.

For the built-in reference and the two adapters: the seconds of `verify`, how many times as long as the same requests to the same program
take whose replies nobody reads, and the most memory of its largest process, also with a corpus that is twice and four times as long. Then
the same of `fuzz`, and the cases that it tries in a second. With `wrk` and `benches/target/release/load`, also how many requests a provider
judges for each that the same server answers without judging.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = 5
REQUEST = '{"request":'


def seconds_and_megabytes(command, **streams):
    """How long a command takes, and the most memory that its largest process takes, as the system accounts it at its end."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=ROOT, **streams)
    _, status, usage = os.wait4(process.pid, 0)
    seconds, process.returncode = time.perf_counter() - begun, os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(command)}")
    return seconds, usage.ru_maxrss / 1000


def requests_of(threadspec, folder):
    """A file with the requests of a run, a line each, as they were sent."""
    transcript, requests = folder / "transcript.jsonl", folder / "requests.jsonl"
    subprocess.run([threadspec, "verify", "--transcript", transcript], check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    decoder = json.JSONDecoder(parse_int=str)
    with open(transcript, encoding="utf-8") as lines, open(requests, "w", encoding="utf-8") as out:
        print('{"id":0,"op":"hello","protocol":1}', file=out)
        for line in lines:
            if line.startswith(REQUEST):
                _, end = decoder.raw_decode(line, len(REQUEST))
                print(line[len(REQUEST) : end], file=out)
    transcript.unlink()
    return requests


def fuzz(threadspec, folder, title, testee):
    """What the fuzzer costs with a testee: each process gets what it would get alone."""
    cases, requests, script = 20_000, folder / "fuzzed.jsonl", folder / "tee"
    script.write_text(f"#!/bin/sh\ntee {requests} | {' '.join(testee)}\n")
    script.chmod(0o755)
    run = [threadspec, "fuzz", "--profile", "literal", "--seed", "1", "--cases", str(cases)]
    seconds, memory = seconds_and_megabytes([*run, "--", *testee])
    alone = seconds_and_megabytes([*run, "--jobs", "1", "--", str(script)])[0]
    with open(requests, encoding="utf-8") as lines:
        bare = seconds_and_megabytes(testee, stdin=lines)[0]
    print(f"fuzz, {title}: {cases / seconds:,.0f} cases a second, {alone / bare:.2f} times the bare requests with one process; {memory:.0f} MB")


def provider(load):
    """How many requests a provider judges for each that the same server answers."""
    rates = {"judged": [], "answers": []}
    for _ in range(3):
        for way, found in rates.items():
            server = subprocess.Popen([load, way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            address = re.search(r"http://\S+", server.stdout.readline())[0]
            said = subprocess.run(
                ["wrk", "-t16", "-c16", "-d6s", "-s", "benches/load.lua", address], check=True, capture_output=True, text=True, cwd=ROOT
            ).stdout
            found.append(float(re.search(r"Requests/sec:\s*([\d.]+)", said)[1]))
            server.communicate()
    judged, answers = (statistics.median(rates[way]) for way in ("judged", "answers"))
    print(f"provider: {judged:,.0f} judged requests a second, {judged / answers:.0%} of those without judging")


def times(folder, number):
    """The corpus so many times as long: each file of cases under several names."""
    corpus = folder / f"{number}-times"
    shutil.copytree(ROOT / "golden", corpus)
    for file in list(corpus.glob("*/*.json")):
        for copy in range(1, number):
            shutil.copy(file, file.with_name(f"{file.stem}-copy-{copy}.json"))
    return str(corpus)


def main():
    sys.setrecursionlimit(100_000)  # a case nests its arguments deeper than Python reads by default
    threadspec = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target/release/threadspec")
    node, python = ["node", "conformance/adapters/node/main.mjs"], ["python3", "conformance/adapters/python/main.py"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        requests = requests_of(threadspec, folder)
        longer = [times(folder, number) for number in (2, 4)]
        for title, bare, behind in [
            ("built-in reference", [threadspec, "serve"], []),
            ("Node adapter", node, ["--", *node]),
            ("Python adapter", python, ["--", *python]),
        ]:
            verify, ratios = [], []
            for _ in range(ROUNDS):
                verify.append(seconds_and_megabytes([threadspec, "verify", *behind]))
                with open(requests, encoding="utf-8") as lines:
                    ratios.append(verify[-1][0] / seconds_and_megabytes(bare, stdin=lines)[0])
            more = [seconds_and_megabytes([threadspec, "verify", "--corpus", corpus, *behind])[1] for corpus in longer]
            seconds, memory = statistics.median(took for took, _ in verify), max(most for _, most in verify)
            print(
                f"{title}: {seconds:.2f} s, {statistics.median(ratios):.2f} times the bare requests; "
                f"{memory:.0f} MB, twice as long {more[0]:.0f} MB, four times {more[1]:.0f} MB"
            )
            fuzz(threadspec, folder, title, bare)
    load = ROOT / "benches/target/release/load"
    if load.exists() and shutil.which("wrk"):
        provider(load)


main()
