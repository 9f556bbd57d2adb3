"""What all session adapters of Python frameworks share: runs, cuts, decisions, and what a run reports (op `session`).

A session adapter is a `Thread`: made once for a session, and once more after a kill. Its `play(run)` plays one run by the framework's own means:

- its fake model calls `session.ask(request)` with the framework's own request, and gives back the `Turn` that it returns;
- its tools await `session.call(name, args, call_id)` (or call `session.call_in_thread`), which begins, cuts and ends as the script says, and
  returns a JSON value or an `Image`, or raises `ScriptedFailure`;
- a summarizing model calls `session.summarize(request)`, which returns the text of the summary;
- `run.pending` gets the ids of the calls that wait for a decision when the run is over;
- `run.cancel` may be replaced by the framework's own means; by default the task that plays the run is cancelled.

An exception that leaves `play` before anything happened is a refusal with its text; later it is the run's `failure`. What a run reports is
written when the run is over, so that nothing that happens behind it changes it.
"""

import asyncio
import base64
import hashlib
import json
import os
import signal
import threading
import time
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from testee import UNLIMITED, ModelFailed, ScriptedFailure, dump, same, serve, to_json

MAIN = "main"
# How often in a row a cut looks, behind the last sibling that returned, and finds nothing at work: what a framework does with its result has the
# time to happen, however busy the machine is.
QUIET = 20
POLL = 0.005
# Seconds that pass in a cancelled tool: a framework that still waits for it then has its result.
PATIENCE = 0.5


class ToolCrashed(Exception):
    """The scripted tool fails by `cut`. No framework has an exception of this name."""


@dataclass
class Call:
    """A call of the scripted model. `args` is None where `arguments`, the text that a provider writes, is no JSON object."""

    id: str
    name: str
    args: dict | None
    arguments: str
    handoff: str | None = None
    signature: str | None = None


@dataclass
class Turn:
    """What the scripted model answers; `opaque` are the parts before its text, as the script has them."""

    content: str
    calls: list[Call] = field(default_factory=list)
    opaque: list[dict] = field(default_factory=list)


@dataclass
class Agent:
    """One of the agents: `tools` says of each of its tools whether it needs approval, `others` are the names of the agents that it can hand over to."""

    name: str
    system: str | None
    tools: dict[str, bool]
    others: list[str]


@dataclass
class Image:
    """A result that is an image, in base64, with the text beside it, if there is one."""

    data: str
    text: str | None
    media_type: str = "image/png"

    @property
    def bytes(self):
        return base64.b64decode(self.data)


@dataclass
class Execution:
    """A call of a tool, as the tool was called; `over` as soon as nothing comes of it any more."""

    id: str | None
    name: str
    args: dict
    said: Call | None
    returned: bool = False
    over: bool = False


@dataclass
class Decision:
    """What was decided on a pending call; `args` replaces the arguments of an approved one."""

    approve: bool
    args: dict | None = None
    reason: str | None = None


class Run:
    """One run: its beginning, and what happened in it."""

    def __init__(self, script):
        self.message = script.get("message")
        self.decisions = {id: Decision(**decision) for id, decision in (script.get("decisions") or {}).items()}
        self.resume = script.get("resume", False)
        self.compact = script.get("compact")
        self.limit = script.get("maxRecursionDepth")
        self.cut = script.get("cut") or {}
        self.turns = script["model"]
        self.pending = []
        self.cancel = None
        self._left = iter(self.turns)
        self._begun, self._requests, self._summaries = [], [], []

    @property
    def rounds(self):
        """How many rounds of calls the framework may run."""
        return UNLIMITED if self.limit is None else self.limit

    def report(self, ended=None):
        """The JSON text of the run; `ended` says with which exception it ended."""
        executed = [{"id": one.id, "name": one.name, "args": one.args, **({} if one.returned else {"returned": False})} for one in self._begun]
        report = {"requests": f"[{','.join(self._requests)}]", "executed": dump(executed)}
        if self.pending:
            report["pending"] = dump(self.pending)
        if self._summaries:
            report["summaries"] = f"[{','.join(self._summaries)}]"
        if ended is not None:
            report["failure" if self._requests or executed else "refused"] = dump(ended)
        return f"{{{','.join(f'{dump(name)}:{text}' for name, text in report.items())}}}"


class Session:
    """One request of op `session`."""

    def __init__(self, request, describe, handoff, replies):
        script = request["input"]
        self.id = request["id"]
        self.storage = Path(script["storage"])
        self.first = request.get("from") or 0
        self.runs = [Run(run) for run in script["runs"]]
        self.unobservable = None
        self.run = None
        scripts = {MAIN: script, **(script.get("agents") or {})}
        self._tools = {agent: one.get("tools") or {} for agent, one in scripts.items()}
        self.agents = {
            name: Agent(name, one.get("system"), {tool: is_gated(how) for tool, how in self._tools[name].items()}, [other for other in scripts if other != name])
            for name, one in scripts.items()
        }
        self._describe, self._handoff, self._replies = describe, handoff, replies
        # The calls of every response so far; those of the runs before a kill were said.
        self._said = [self._calls(turn) for run in self.runs[: self.first] for turn in run.turns]
        self._returned = set()
        self._taken = {}
        self._reports = []

    @property
    def main(self):
        """The agent of the input itself."""
        return self.agents[MAIN]

    def cannot_tell(self, why):
        """Makes the reply `unsupported`: the adapter cannot put this request to the framework, or see what comes of it."""
        self.unobservable = self.unobservable or why

    def said(self, id):
        """The call of the script that has an id, the latest one."""
        return next((call for calls in reversed(self._said) for call in calls if call.id == id), None)

    def ask(self, request):
        """Records the request that the framework handed to its model, and returns the scripted answer, or raises `ModelFailed`."""
        self.run._requests.append(self._write(request))
        turn = next(self.run._left, {"error": "script exhausted"})
        if turn.get("error") is not None:
            raise ModelFailed(turn["error"])
        self._said.append(self._calls(turn))
        return Turn(turn.get("content") or "", self._calls(turn), [part for part in turn.get("opaque") or [] if part["kind"] != "signature"])

    def summarize(self, request):
        """Records a request to a summarizing model, and returns its scripted answer."""
        self.run._summaries.append(self._write(request))
        return (self.run.compact or {}).get("summary") or "A summary."

    async def call(self, name, args, call_id=None, agent=MAIN):
        """Executes a call: to be awaited by the framework's tool."""
        one = self._begin(name, args, call_id, agent)
        try:
            for wait in self._cut(self.run, one):
                await asyncio.sleep(wait)
            return self._end(one, agent)
        finally:
            one.over = True

    def call_in_thread(self, name, args, call_id=None, agent=MAIN):
        """The same for a framework whose tools are plain functions, each in a thread."""
        one = self._begin(name, args, call_id, agent)
        try:
            for wait in self._cut(self.run, one):
                time.sleep(wait)
            return self._end(one, agent)
        finally:
            one.over = True

    async def play(self, thread):
        """Plays the runs, one after the other."""
        async with thread.opened():
            for number, self.run in enumerate(self.runs[self.first :], self.first + 1):
                await self.begins(number)
                self._reports.append(self.run.report(await self._ended(thread)))

    async def begins(self, number):
        """A run is about to begin, counted from 1."""

    def reply(self, refusal):
        """The JSON text of the reply's member. `refusal` is the exception that ended the session, which is none of a run."""
        if self.unobservable or refusal:
            return dump({"unsupported": self.unobservable or f"the adapter cannot play it: {refusal}"})
        return f'{{"ok":{{"runs":[{",".join(self._reports)}]}}}}'

    async def _ended(self, thread):
        """Plays the run, and returns the text of the exception that it ended with, or None."""
        run, loop = self.run, asyncio.get_running_loop()
        task = asyncio.create_task(thread.play(run))
        run.cancel = run.cancel or (lambda: loop.call_soon_threadsafe(task.cancel))
        await asyncio.wait({task})
        if task.cancelled():
            return "CancelledError"
        if (error := task.exception()) is None:
            return None
        traceback.print_exception(error)
        return f"{type(error).__name__}: {error}"

    def _begin(self, name, args, call_id, agent):
        said = self._find(name, args, call_id, agent)
        one = Execution(call_id if call_id is not None else said and said.id, name, json.loads(json.dumps(args)), said)
        self.run._begun.append(one)
        return one

    def _cut(self, run, one):
        """The seconds to wait, one after the other: until every other begun call has returned, and nothing works any more; then cuts."""
        if not is_cut(run, one):
            return
        begun = quiet = 0
        while quiet < QUIET:
            is_quiet = begun == len(run._begun) and all(other.over or is_cut(run, other) for other in run._begun) and not others_work()
            begun, quiet = len(run._begun), quiet + 1 if is_quiet else 0
            yield POLL
        if run.cut["how"] == "throw":
            raise ToolCrashed("the tool crashed")
        if run.cut["how"] == "kill":
            self._kill()
        run.cancel()
        yield PATIENCE

    def _kill(self):
        """Ends this process at once, having said what happened so far."""
        runs = ",".join([*self._reports, self.run.report()])
        self._replies.write(f'{{"id":{self.id},"cut":true,"runs":[{runs}]}}\n'.encode("ascii"))
        self._replies.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    def _end(self, one, agent):
        result = self._result(self._tools[agent][one.name], one.name, one.args, one.said.id if one.said else one.id)
        # One that was cut had not returned before, whether or not the framework waits for it.
        one.returned = not is_cut(self.run, one)
        self._returned.add(one.id)
        if isinstance(result, dict) and list(result) == ["error"] and isinstance(result["error"], str):
            raise ScriptedFailure(result["error"])
        if isinstance(result, dict) and "image" in result and result.keys() <= {"image", "text"}:
            return Image(result["image"], result.get("text"))
        return json.loads(json.dumps(result))

    def _result(self, script, name, args, id):
        if isinstance(script, list):
            taken = self._taken[name] = self._taken.get(name, -1) + 1
            return script[min(taken, len(script) - 1)] if script else ""
        if "byArgs" in script:
            return next((result for given, result in script["byArgs"] if same(given, args)), "")
        return script.get("byId", {}).get(id, "")

    def _find(self, name, args, call_id, agent):
        """The call of the script; where the framework does not tell its tools the id, its name and arguments find it, or those that were decided."""
        if call_id is not None:
            return self.said(call_id)
        script = self._tools[agent].get(name)
        results = script.get("byId", {}) if isinstance(script, dict) else {}
        decided = {id: decision.args for id, decision in self.run.decisions.items() if decision.args is not None}
        denied = {id for id, decision in self.run.decisions.items() if not decision.approve}
        done = {*self._returned, *denied, *(one.id for one in self.run._begun)}
        named = [[call for call in calls if call.name == name] for calls in reversed(self._said)]
        # The latest response that has such a call; the first of those that are left, with these arguments if there is one.
        for left in [[call for call in calls if call.id not in done] for calls in named], named:
            for calls in [[call for call in calls if same(decided.get(call.id, call.args), args)] for calls in left], left:
                if found := next(filter(None, calls), None):
                    if len({dump(results.get(call.id)) for call in found}) > 1:
                        self.cannot_tell(f"the framework does not tell its tools which of the calls to {name!r} they answer")
                    return found[0]
        return None

    def _calls(self, turn):
        """Calls of their own for whoever asks, since a framework may change them."""
        signatures = {part["call"]: part["data"] for part in turn.get("opaque") or [] if part["kind"] == "signature"}
        calls = []
        for call in turn.get("tool_calls") or []:
            handoff = call.get("handoff")
            name = self._handoff(handoff) if handoff else call["name"]
            text = call["arguments"] if "arguments" in call else to_json(call.get("args") or {})
            calls.append(Call(call["id"], name, object_of(text), text, handoff, signatures.get(call["id"])))
        return calls

    def _write(self, request):
        try:
            return dump(self._describe(request))
        except Exception as error:
            # Not to be raised: it would be taken for the model's failure.
            traceback.print_exc()
            self.cannot_tell(f"the adapter cannot write a list of messages: {error}")
            return "null"


class Thread:
    """A thread of a framework, kept by the framework's own memory. It begins at the run `session.first` with what is in `session.storage`."""

    def __init__(self, session):
        self.session = session

    @asynccontextmanager
    async def opened(self):
        """What must be open while the thread is used."""
        yield

    async def play(self, run):
        """Plays a run."""
        raise NotImplementedError


def serve_sessions(thread, describe, *, features, handoff=None, saves=None, systems=None, **implementation):
    """Answers requests of op `session` until stdin ends. `features` are those of the hello, `handoff` names the tool that hands over to an
    agent; `describe` turns what `ask` and `summarize` are given into the protocol's messages."""
    # Of its own, since `serve` gives stdout to the log: a kill writes before it ends the process.
    replies = os.fdopen(os.dup(1), "wb")
    said = {name: value for name, value in {"saves": saves, "systems": systems}.items() if value}

    async def play(session):
        await session.play(thread(session))

    serve(play, new_run=lambda request: Session(request, describe, handoff, replies), ops=["session"], session=features, **said, **implementation)


def others_work():
    """Whether another thread of this process works, waits for a processor or for the disk. Where the system does not tell, none does."""
    for status in Path("/proc/self/task").glob("[0-9]*/stat"):
        try:
            state = status.read_bytes().rpartition(b") ")[2][:1]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        if state in b"RD" and int(status.parent.name) != threading.get_native_id():
            return True
    return False


def is_cut(run, one):
    return one.said is not None and one.said.id == run.cut.get("during")


def is_gated(tool):
    return isinstance(tool, dict) and tool.get("approval") is True


def object_of(text):
    """The JSON object that a text is, or None; an empty text is an empty object."""
    try:
        value = json.loads(text) if text else {}
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def described_call(id, name, arguments):
    """A call of a message of the reply, from its arguments as an object or as a text, which may be no object."""
    args = object_of(arguments) if isinstance(arguments, str) else arguments
    return {"id": id, "name": name, "args": args} if isinstance(args, dict) else {"id": id, "name": name, "args": {}, "raw": arguments}


def fingerprint(data):
    """What stands for an image in the reply; `data` is bytes, or base64."""
    return hashlib.sha256(data if isinstance(data, bytes) else base64.b64decode(data)).hexdigest()
