"""What all adapters of Python frameworks share: the protocol, the scripted model's turns, the scripted tools.

An adapter is a function of one `Run`, plain or async, that lets the framework's own loop do the work:

- its fake model, at the framework's own model interface, calls `run.ask(request)` with the framework's own request object
  and gives back the `Turn` that it returns (it raises `ModelFailed` where the script says so);
- its tools, named `run.tools`, call `run.result(name, args, call_id)`, which returns any JSON value or raises `ScriptedFailure`;
  a framework that reads a tool's parameters from the signature of a function gets `run.function(name)`;
- it sets `run.final` to what the framework hands back at the end, and `run.given` to the caller's own list;
- an exception that leaves it means that the framework ended the run.

`describe` turns a framework's list of messages into the protocol's. A request is described when the model gets it, and again when the
run is over: what the model got is what counts, and a list that the framework changes afterwards is seen, too (AGENT-SHARED).

A run is refused (`reject`) only if it ends with an exception before the model was asked. After that, an exception is `failure`, beside the
requests that were made.
"""

import asyncio
import importlib.metadata
import inspect
import json
import keyword
import os
import re
import sys
import traceback
import typing
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

PROTOCOL = 1
# What stands for "no limit" where a framework wants a number.
UNLIMITED = 1000
# Characters of requests that are written twice, since a reply holds 64 MiB and a million values; longer ones are not looked at again.
LONGEST_WRITTEN_TWICE = 2 * 1024 * 1024

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

    def __init__(self, script, describe):
        self.messages = script["messages"]
        self.limit = script.get("maxRecursionDepth")
        self._scripts = script.get("tools") or {}
        self.tools = list(self._scripts)
        self.final = self.given = self.failure = self.unobservable = None
        self._model = script["model"]
        self._turns = iter(self._model)
        self._calls = []
        self._taken = {}
        # The framework's own objects, and the JSON text of each as it was when the model got it.
        self._requests, self._written = [], []
        self._describe = describe

    @property
    def rounds(self):
        """How many rounds of calls the framework may run."""
        return UNLIMITED if self.limit is None else self.limit

    def cannot_tell(self, why):
        """Makes the reply `unsupported`: the adapter cannot put this request to the framework, or see what comes of it."""
        self.unobservable = self.unobservable or why

    def ask(self, request, declared=None):
        """Records the request that the framework handed to its model, and returns the scripted answer.

        `declared` are the names by which a framework that makes names of its own declared its tools: a model calls no other.
        """
        self._requests.append(request)
        self._written.append(self._write(request))
        turn = next(self._turns, {"error": "script exhausted"})
        if turn.get("error") is not None:
            raise ModelFailed(turn["error"])
        self._calls = _calls(turn)
        for call in self._calls:
            if declared is not None and call.name in self._scripts and call.name not in declared:
                self.cannot_tell(f"the framework declares the tool {call.name!r} by another name")
        # Calls of its own for the framework, which may change them.
        return Turn(turn.get("content") or "", _calls(turn))

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
        return self._played(result)

    def function(self, name):
        """The tool as a function, for a framework that reads a tool's schema from its signature and its docstring: the parameters are those that
        the model will call it with; one that not every call has is optional."""
        calls = [call.get("args") or {} for turn in self._model for call in turn.get("tool_calls") or [] if call["name"] == name]
        names = list(dict.fromkeys(parameter for args in calls for parameter in args))
        if not all(map(_can_name_a_parameter, names)):
            self.cannot_tell(f"a call of {name!r} has an argument that is no name of a parameter")
            names = []

        def call(**args):
            return self.result(name, args)

        def parameter(one):
            default = inspect.Parameter.empty if all(one in args for args in calls) else None
            return inspect.Parameter(one, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=typing.Any)

        call.__name__ = call.__qualname__ = name
        call.__doc__ = "\n".join(["A scripted tool.", "", "Args:", *(f"    {one}: an argument" for one in names)] if names else ["A scripted tool."])
        call.__annotations__ = {**dict.fromkeys(names, typing.Any), "return": typing.Any}
        call.__signature__ = inspect.Signature(map(parameter, names), return_annotation=typing.Any)
        return call

    def _played(self, result):
        if isinstance(result, dict) and list(result) == ["error"] and isinstance(result["error"], str):
            raise ScriptedFailure(result["error"])
        return _copy(result)

    def _by_elimination(self, name, args, results):
        calls = [call for call in self._calls if call.name == name]
        exact = [call for call in calls if same(call.args, args)]
        found = [results.get(call.id, "") for call in exact or calls]
        if any(not same(result, found[0]) for result in found):
            self.cannot_tell(f"the framework does not tell its tools which of the calls to {name!r} they answer")
        return found[0] if found else ""

    def reply(self, refusal):
        """The JSON text of the reply's member. `refusal` is the exception that ended the run, if one did."""
        failure = self.failure or refusal
        output = {"requests": f"[{','.join(self._written)}]"}
        if len(output["requests"]) <= LONGEST_WRITTEN_TWICE:
            output["requestsAtEnd"] = f"[{','.join(map(self._write, self._requests))}]"
        output["messages"] = "null" if self.final is None else self._write(self.final)
        if self.given is not None:
            output["given"] = self._write(self.given)
        if failure is not None:
            output["failure"] = dump(failure)
        if self.unobservable:
            return dump({"unsupported": self.unobservable})
        if failure and not self._requests:
            return dump({"reject": {"kind": "invalid-input", "message": failure}})
        return f'{{"ok":{{{",".join(f"{dump(name)}:{text}" for name, text in output.items())}}}}}'

    def _write(self, messages):
        """The JSON text of a list of messages. Text is a copy that nobody changes, however deep a framework's objects are shared."""
        try:
            return dump(self._describe(messages))
        except Exception as error:
            # Not to be raised: it would be taken for the model's failure.
            traceback.print_exc()
            self.cannot_tell(f"the adapter cannot write a list of messages: {error}")
            return "null"


def _can_name_a_parameter(text):
    return text.isidentifier() and not keyword.iskeyword(text)


def _calls(turn):
    return [Call(call["id"], call["name"], _copy(call.get("args") or {})) for call in turn.get("tool_calls") or []]


def serve(run, describe=None, *, package, url, name=None, version=None, new_run=None, **more):
    """Answers requests until stdin ends, several at once. `version` is for what is not an installed package; `new_run` makes another kind of
    `Run` of a request, and `more` are more members of the hello: both are for what is judged over the wire."""
    new_run = new_run or (lambda request: Run(request["input"], describe))
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
        "exactIntegers": True,
        "concurrent": True,
        **more,
    }
    # Whatever a framework prints belongs to the log.
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    async def reply(line):
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            id, answer = int(re.search(rb"[0-9]+", line)[0]), dump({"unsupported": f"Python cannot read it: {error}"})
        else:
            id, answer = request["id"], await _answer(request, hello, run, new_run)
        replies.write(f'{{"id":{id},{answer[1:]}\n'.encode("ascii"))
        replies.flush()

    async def loop():
        # A run that waits for its model keeps a thread.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(32))
        pending = set()
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            if line.strip():
                task = asyncio.create_task(reply(line))
                pending.add(task)
                task.add_done_callback(pending.discard)
        await asyncio.gather(*pending)

    asyncio.run(loop())


async def _answer(request, hello, run, new_run):
    if request.get("op") == "hello":
        return dump({"ok": hello})
    if request.get("op") not in hello["ops"]:
        return dump({"unsupported": "unknown op"})
    one, refusal = new_run(request), None
    try:
        if one.unobservable:
            pass
        elif inspect.iscoroutinefunction(run):
            await run(one)
        else:
            await asyncio.to_thread(run, one)
    except Exception as error:
        refusal = f"{type(error).__name__}: {error}"
        traceback.print_exc()
    return one.reply(refusal)


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


def dump(value):
    """JSON in ASCII, so that a lone surrogate can be written; infinity is refused."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"))


def _copy(value):
    return json.loads(json.dumps(value))
