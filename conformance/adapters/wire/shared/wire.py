"""What the Python programs share that are judged over the wire: the protocol, and the scripted tools.

A program is a function of one `WireRun`, plain or async, that builds an agent for `run.endpoint` and lets it answer `run.messages`:

- its tools, named `run.tools`, call `run.result(name, args, call_id)`, which returns any JSON value or raises `ScriptedFailure`;
- it sets `run.final` to what the agent hands back at the end, and `run.given` to the caller's own list, if `describe` is given, which turns
  such a list into the protocol's messages;
- an exception that leaves it means that the agent ended the run, and is the `failure` of the reply.

What the model was asked is not reported: the provider has seen it.
"""

import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

FRAMEWORKS = Path(__file__).resolve().parents[2] / "frameworks"
sys.path.insert(0, str(FRAMEWORKS / "shared"))

from testee import Run, ScriptedFailure, dump, from_json, same, serve, to_json

ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}
DECLARABLE = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Endpoint:
    """Where the model is: the API that is spoken there, what the official SDK of that API takes as its base URL, and how to ask."""

    api: str
    base_url: str
    api_key: str
    model: str
    stream: bool
    reasoning: bool


class WireRun(Run):
    """One request of op `tools` with an endpoint."""

    def __init__(self, request, describe, reasons):
        super().__init__({**request["input"], "model": []}, describe)
        # Tools whose names every API takes are declared; another one is run all the same, if the model calls it.
        self.scripted, self.tools = self.tools, [name for name in self.tools if DECLARABLE.fullmatch(name)]
        where = request.get("endpoint") or {}
        self.endpoint = Endpoint(
            where.get("api"), where.get("baseUrl"), where.get("apiKey"), where.get("model"), bool(where.get("stream")), bool(where.get("reasoning"))
        )
        if not where:
            self.cannot_tell("the program has a real client, and needs an `endpoint`: use `verify --provider`")
        if self.endpoint.reasoning and not reasons:
            self.cannot_tell("the program does not switch the model's thinking on")
        self._ran = set()

    def result(self, name, args, call_id=None):
        script = self._scripts[name]
        if isinstance(script, list) or "byArgs" in script:
            return super().result(name, args)
        if call_id not in script["byId"]:
            call_id = self._called_with(name, args, script) or call_id
        again = script.get("again") or {}
        results = again if call_id in self._ran and call_id in again else script["byId"]
        self._ran.add(call_id)
        return self._played(results.get(call_id, ""))

    def _called_with(self, name, args, script):
        """The id of the call with these arguments, for an agent that does not tell its tools the id."""
        calls = script.get("args") or {}
        found = [id for id in script["byId"] if same(calls.get(id), args)] or list(script["byId"])
        open_ids = [id for id in found if id not in self._ran] or found
        if any(not same(script["byId"][id], script["byId"][open_ids[0]]) for id in open_ids):
            self.cannot_tell(f"the agent does not tell its tools which of the calls to {name!r} they answer")
        return open_ids[0] if open_ids else None

    def reply(self, refusal):
        failure = self.failure or refusal
        lists = {"messages": self.final, "given": self.given} if self._describe else {}
        output = {name: self._write(value) for name, value in lists.items() if value is not None}
        if failure is not None:
            output["failure"] = dump(failure)
        if self.unobservable:
            return dump({"unsupported": self.unobservable})
        return f'{{"ok":{{{",".join(f"{dump(name)}:{text}" for name, text in output.items())}}}}}'


def adapter_of(framework):
    """The module that puts the framework behind op `tools`: its tools and its conversions of messages are the same here, and its `run` takes
    another model than the scripted one."""
    sys.path.insert(0, str(FRAMEWORKS / framework))
    return importlib.import_module("adapter")


def serve_over_wire(run, describe=None, *, apis, reasons=False, **implementation):
    """Answers requests until stdin ends, several at once. `apis` are those that the program speaks; `reasons`: it can switch thinking on."""
    serve(run, new_run=lambda request: WireRun(request, describe, reasons), apis=apis, **implementation)
