"""Compares `threadspec check FILE` with DuckDB, which reads each record as JSON, and with `jq -c .`: `logs.py [MEGABYTES [ROUNDS]]`.

The logs are what an agent's client writes: requests one a line, each with the whole history until then; of one conversation, and of a
thousand at once, whose requests come in turns. All run on one processor, one after the other, in each round; what is told is the median of
the ratios of processor time. DuckDB's import is not counted; that of the other two programs is. Needs the module `duckdb`, and `jq`.
"""

import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRATCH = ROOT / "benches/target/logs"
LINES = [
    "def deserialize(self, value, attr, data, **kwargs):",
    "    base_unit = dt.timedelta(**{self.precision: 1})",
    "        return super().get(key, default) if key else None",
    "Traceback (most recent call last):\r",
    '  File "/usr/lib/python3.11/site-packages/marshmallow/fields.py", line 1474\r',
    "-rw-r--r-- 1 root root   4096 Jan 12 09:31 setup.cfg",
    "\x1b[32mPASSED\x1b[0m tests/test_serialization.py::test_timedelta_field \x1b[36m[ 42%]\x1b[0m",
    "The test fails since the value is rounded down before it is converted. Let's look at the code first, then at the tests.",
    '{"status": "ok", "items": [1, 2, 3], "next": null}',
    "warning: unused variable: `count` in the body of the loop, which is never read again",
    "Überprüfung abgeschlossen – 3 Dateien geändert ✓",
    "src/marshmallow/fields.py:1474: round is applied to the difference of both values, not to each of them",
    "import datetime as dt\nfrom collections import OrderedDict",
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Runs it in the repository, and returns what it prints. " * 6,
            "parameters": {
                "type": "object",
                "properties": {word: {"type": "string", "description": f"The {word} to use."} for word in words},
                "required": words,
            },
        },
    }
    for name, words in [("bash", ["command"]), ("edit", ["path", "old", "new"]), ("search", ["pattern", "folder"]), ("open", ["path", "line"])]
]


class Conversation:
    def __init__(self, number):
        self.random = random.Random(number)
        self.round = 0
        system = "You are a careful engineer. Look before you change anything. " * 30
        self.messages = [{"role": "system", "content": system}, {"role": "user", "content": f"Task {number}: {self.text(12)}"}]

    def text(self, most):
        # Most texts are short, some are long.
        pieces = 1 + self.random.randrange(most) * self.random.randrange(most) // most
        return "\n".join(self.random.choices(LINES, k=pieces))

    def request(self):
        if self.round:
            call = f"call_{self.random.getrandbits(64):016x}"
            arguments = json.dumps({"command": self.text(6)})
            name = self.random.choice(["bash", "search"])
            function = {"name": name, "arguments": arguments}
            said = {"role": "assistant", "content": self.text(4), "tool_calls": [{"id": call, "type": "function", "function": function}]}
            self.messages += [said, {"role": "tool", "tool_call_id": call, "content": self.text(90)}]
        self.round += 1
        return {"model": "gpt-4.1", "messages": self.messages, "tools": TOOLS, "temperature": 0.2}


def write(path, conversations, size):
    """Requests of so many conversations in turns, of which the oldest ends for a new one when all are `size` bytes."""
    talks = [Conversation(number) for number in range(conversations)]
    written = 0
    with path.open("w", encoding="utf-8") as file:
        while written < size:
            for talk in talks:
                line = json.dumps(talk.request(), ensure_ascii=False) + "\n"
                written += len(line.encode())
                file.write(line)
                if written >= size:
                    break


DUCKDB = """
import duckdb, sys, time
connection = duckdb.connect(config={"threads": 1})
connection.execute("SET enable_progress_bar = false")
start = time.process_time()
connection.execute("SELECT sum(length(json::VARCHAR)) FROM read_json_objects(?, maximum_object_size=100000000)", [sys.argv[1]]).fetchall()
print(time.process_time() - start)
"""


def timed(command):
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"exit code {process.returncode}: {' '.join(map(str, command))}")
    # Kilobytes on Linux, bytes on macOS.
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def main():
    size = int(sys.argv[1]) * 1_000_000 if len(sys.argv) > 1 else 200_000_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {0})
    SCRATCH.mkdir(parents=True, exist_ok=True)
    ours = os.environ.get("THREADSPEC", ROOT / "target/release/threadspec")
    print(f"| {size // 1_000_000} MB of requests | threadspec | memory | DuckDB takes | jq takes |\n|---|--:|--:|--:|--:|")
    for conversations in [1, 1000]:
        log = SCRATCH / f"{conversations}.jsonl"
        # In a process of its own: what a program had before it became another one counts as that one's memory.
        if (writer := os.fork()) == 0:
            write(log, conversations, size)
            os._exit(0)
        os.waitpid(writer, 0)
        figures = []
        for _ in range(rounds):
            seconds, memory = timed([ours, "check", log])
            duckdb = float(subprocess.run([sys.executable, "-c", DUCKDB, log], check=True, capture_output=True, text=True).stdout)
            jq = timed(["jq", "-c", ".", log])[0] if shutil.which("jq") else float("nan")
            figures.append((seconds, memory, duckdb / seconds, jq / seconds))
        seconds, memory, duckdb, jq = (statistics.median(column) for column in zip(*figures))
        what = "one conversation" if conversations == 1 else f"{conversations} conversations"
        print(f"| {what} | {log.stat().st_size / seconds / 1e6:.0f} MB/s | {memory / 1e6:.0f} MB | {duckdb:.2f} times | {jq:.1f} times |", flush=True)


main()
