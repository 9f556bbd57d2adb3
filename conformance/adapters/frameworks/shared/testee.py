"""What all adapters of Python frameworks share: the protocol, the scripted model's turns, the scripted tools.

An adapter is a function of one `Run`, plain or async, that lets the framework's own loop do the work:

- its fake model, at the framework's own model interface, calls `run.ask(request)` with the framework's own request object
  and gives back the `Turn` that it returns (it raises `ModelFailed` where the script says so);
- its tools, named `run.tools`, call `run.result(name, args, call_id)`, which returns any JSON value or raises `ScriptedFailure`;
- it sets `run.final` to what the framework hands back at the end, and `run.given` to the caller's own list;
- an exception that leaves it means that the framework ended the run.

`describe` turns a framework's list of messages into the protocol's. Requests are described when the run is over, so that a
list that the framework changes after it was sent is seen, unless the adapter has to copy (`snapshots="adapter"`).
"""

import asyncio
import importlib.metadata
import inspect
import json
import os
import re
import sys
import traceback
from dataclasses import dataclass, field

PROTOCOL = 1
# What stands for "no limit" where a framework wants a number.
UNLIMITED = 1000

_SURROGATE = re.compile("[\ud800-\udfff]")


class ModelFailed(Exception):
    """The scripted model call fails."""


class ScriptedFailure(Exception):
    """The scripted tool fails. No framework has an exception of this name."""


@dataclass
class Call:
    """A tool call of the scripted model."""

    id: str
    name: str
    args: dict

    @property
    def arguments(self):
        """The arguments as a provider writes them: JSON text."""
        return to_json(self.args)


@dataclass
class Turn:
    """What the scripted model answers."""

    content: str
    calls: list[Call] = field(default_factory=list)


class Run:
    """One request of op `tools`."""

    def __init__(self, script, describe, copies):
        self.messages = script["messages"]
        self.limit = script.get("maxRecursionDepth")
        self._scripts = script.get("tools") or {}
        self.tools = list(self._scripts)
        self.final = self.given = self.failure = self.unobservable = None
        self.model_failed = False
        self._turns = iter(script["model"])
        self._calls = []
        self._taken = {}
        self._requests = []
        self._describe = describe
        self._copies = copies

    @property
    def rounds(self):
        """How many rounds of calls the framework may run."""
        return UNLIMITED if self.limit is None else self.limit

    def cannot_tell(self, why):
        """Makes the reply `unsupported`: the adapter cannot put this request to the framework, or see what comes of it."""
        self.unobservable = self.unobservable or why

    def ask(self, request):
        """Records the request that the framework handed to its model, and returns the scripted answer."""
        self._requests.append(self._describe(request) if self._copies else request)
        turn = next(self._turns, None) or {"error": "script exhausted"}
        if turn.get("error") is not None:
            self.model_failed = True
            raise ModelFailed(turn["error"])
        calls = [Call(call["id"], call["name"], call.get("args") or {}) for call in turn.get("tool_calls") or []]
        self._calls = calls
        return Turn(turn.get("content") or "", calls)

    def result(self, name, args, call_id=None):
        """The scripted result of a call. Where the framework does not tell its tools the id, name and arguments find it."""
        script = self._scripts[name]
        if isinstance(script, list):
            taken = self._taken[name] = self._taken.get(name, -1) + 1
            result = script[min(taken, len(script) - 1)] if script else ""
        elif "byArgs" in script:
            result = next((result for given, result in script["byArgs"] if same(given, args)), "")
        elif call_id in script["byId"] or any(call.id == call_id for call in self._calls):
            result = script["byId"].get(call_id, "")
        else:
            result = self._by_elimination(name, args, script["byId"])
        if isinstance(result, dict) and list(result) == ["error"] and isinstance(result["error"], str):
            raise ScriptedFailure(result["error"])
        return result

    def _by_elimination(self, name, args, results):
        calls = [call for call in self._calls if call.name == name]
        exact = [call for call in calls if same(call.args, args)]
        found = [results.get(call.id, "") for call in exact or calls]
        if any(not same(result, found[0]) for result in found):
            self.cannot_tell(f"the framework does not tell its tools which of the calls to {name!r} they answer")
        return found[0] if found else ""

    def output(self):
        output = {
            "requests": self._requests if self._copies else [self._describe(request) for request in self._requests],
            "messages": None if self.final is None else self._describe(self.final),
        }
        if self.given is not None:
            output["given"] = self._describe(self.given)
        return output if self.failure is None else {**output, "failure": self.failure}


def serve(run, describe, *, package, url, snapshots="framework", name=None, version=None):
    """Answers requests until stdin ends, several at once. `version` is for what is not an installed package."""
    hello = {
        "protocol": PROTOCOL,
        "implementation": {
            "name": name or package,
            "version": version or importlib.metadata.version(package),
            "language": "Python",
            "url": url,
        },
        "ops": ["tools"],
        "profiles": ["universal"],
        "snapshots": snapshots,
        "exactIntegers": True,
        "concurrent": True,
    }
    # Whatever a framework prints belongs to the log.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    async def reply(line):
        request = json.loads(line)
        try:
            answer = await _answer(request, hello, run, describe)
            written = _encode(request["id"], answer)
        except (TypeError, ValueError, RecursionError) as error:
            written = _encode(request["id"], {"unsupported": f"the adapter cannot write the reply: {error}"})
        replies.write(written)
        replies.flush()

    async def loop():
        pending = set()
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            if line.strip():
                task = asyncio.create_task(reply(line))
                pending.add(task)
                task.add_done_callback(pending.discard)
        await asyncio.gather(*pending)

    asyncio.run(loop())


async def _answer(request, hello, run, describe):
    if request.get("op") == "hello":
        return {"ok": hello}
    if request.get("op") != "tools":
        return {"unsupported": "unknown op"}
    one = Run(request["input"], describe, hello["snapshots"] == "adapter")
    refusal = None
    try:
        if inspect.iscoroutinefunction(run):
            await run(one)
        else:
            await asyncio.to_thread(run, one)
    except Exception as error:
        refusal = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    if one.unobservable:
        return {"unsupported": one.unobservable}
    if refusal and not one.model_failed:
        return {"reject": {"kind": "invalid-input", "message": refusal}}
    one.failure = one.failure or refusal
    return {"ok": one.output()}


def to_json(value):
    """JSON text with all characters as they are, except lone surrogates, which no encoding can carry."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def from_json(text):
    """Arguments that a framework keeps as text; what is not JSON stays a text, for the judge to see."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text


def same(left, right):
    """Whether two JSON values are equal; in Python `True == 1`."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _encode(id, answer):
    return json.dumps({"id": id, **answer}, allow_nan=False).encode("ascii") + b"\n"
