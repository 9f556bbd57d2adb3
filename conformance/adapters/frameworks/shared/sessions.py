"""For tests: plays the sessions of `sessions.json`, kills included, and says what a reply has that is not known to be in it."""

import json
import subprocess
import tempfile
from pathlib import Path

from testee import same

SESSIONS = json.loads(Path(__file__).with_name("sessions.json").read_text(encoding="utf-8"))["sessions"]


class Process:
    """A session adapter, started anew where it ended itself."""

    def __init__(self, command):
        self.command = command
        self.features = self.start()["session"]

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return self.ask({"id": 0, "op": "hello", "protocol": 1})["ok"]

    def ask(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def play(self, input):
        """The reports of the runs; None if the adapter says that it cannot play them."""
        with tempfile.TemporaryDirectory() as storage:
            request = {"id": 1, "op": "session", "profile": "universal", "input": {**input, "storage": storage}}
            reply, runs = self.ask(request), []
            while reply.get("cut"):
                runs += reply["runs"]
                self.end()
                self.start()
                reply = self.ask({**request, "from": len(runs)})
            return [*runs, *reply["ok"]["runs"]] if "ok" in reply else None

    def end(self):
        """The exit code: negative where a signal ended it."""
        with self.process:
            self.process.stdin.close()
            return self.process.wait()


def differences(session, runs):
    """What the reports have otherwise than is known, in words; nothing if all is well."""
    if len(runs) != len(session["runs"]):
        return [f"{len(runs)} runs"]
    named = session.get("messages", {})
    found = []
    for number, (known, run) in enumerate(zip(session["runs"], runs), 1):
        told = {
            "requests": run["requests"],
            "executed": sorted(run["executed"], key=lambda call: call["id"]),
            "pending": sorted(run.get("pending", [])),
            "ends": "failure" in run or "refused" in run,
        }
        if "requests" in known:
            known = {**known, "requests": [[named[name] for name in request] for request in known["requests"]]}
            told["requests"] = [told_as(request, as_known) for request, as_known in zip(run["requests"], known["requests"])] + run["requests"][len(known["requests"]) :]
        found += [f"run {number}: {name} are {told[name]}, not {value}" for name, value in known.items() if not same(told[name], value)]
    return found


def told_as(request, known):
    """A request, with the known system messages in the place of those that hold them: a framework may add texts of its own."""
    system, rest = ([message for message in request if (message["type"] == "system") == is_system] for is_system in (True, False))
    wanted = [message for message in known if message["type"] == "system"]
    texts = "\n".join(message["content"] for message in system)
    return [*(message for message in wanted if message["content"] in texts), *rest]
