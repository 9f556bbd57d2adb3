"""Runs two commands in turns, each on FILE: `whole_process.py ROUNDS FILE -- OURS... -- THEIRS...`.

Prints as JSON, each a median over all rounds, what the first one takes (`milliseconds`, `megabytes`) and how many times as much the
second one takes (`time`, `memory`).
"""

import json
import os
import statistics
import subprocess
import sys
import time


def run(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    # The smaller one: helper threads add to processor time, other processes to elapsed time.
    seconds = min(time.perf_counter() - start, usage.ru_utime + usage.ru_stime)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(command)}")
    # Kilobytes on Linux, bytes on macOS.
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main():
    rounds = int(sys.argv[1])
    rest = sys.argv[3:]
    split = rest.index("--", 1)
    ours, theirs = rest[1:split] + [sys.argv[2]], rest[split + 1 :] + [sys.argv[2]]
    pairs = [(run(ours), run(theirs)) for _ in range(rounds)]
    print(
        json.dumps(
            {
                "milliseconds": 1000 * statistics.median(mine[0] for mine, _ in pairs),
                "time": statistics.median(other[0] / mine[0] for mine, other in pairs),
                "megabytes": statistics.median(mine[1] for mine, _ in pairs) / 1e6,
                "memory": statistics.median(other[1] / mine[1] for mine, other in pairs),
            }
        )
    )


main()
