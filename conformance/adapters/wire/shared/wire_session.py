"""What the Python programs share that play sessions over the wire: a session whose model is at an endpoint.

A program takes the `Thread` of `../frameworks/<name>/session.py` with another model, one for `session.endpoint`. Nothing is said about what the
model was sent; but before each run the provider is told that it begins, since a request does not show which run it belongs to.
"""

import asyncio
import importlib.util
import os
import sys
import urllib.request
from pathlib import Path

FRAMEWORKS = Path(__file__).resolve().parents[2] / "frameworks"
sys.path.insert(0, str(FRAMEWORKS / "shared"))

from session import Call, Session
from testee import serve, to_json
from wire import Endpoint


class WireSession(Session):
    """One request of op `session` with an endpoint. `reasons` says that the program can switch the model's thinking on."""

    def __init__(self, request, handoff, replies, reasons):
        script = request["input"]
        runs = [{"model": [], **run} for run in script["runs"]]
        super().__init__({**request, "input": {**script, "runs": runs}}, list, handoff, replies)
        where = request.get("endpoint") or {}
        self.endpoint = Endpoint(
            where.get("api"), where.get("baseUrl"), where.get("apiKey"), where.get("model"), bool(where.get("stream")), bool(where.get("reasoning"))
        )
        if not where:
            self.cannot_tell("the program has a real client, and needs an `endpoint`: use `verify --provider`")
        elif self.endpoint.stream:
            self.cannot_tell("the program does not ask for streams")
        elif self.endpoint.reasoning and not reasons:
            self.cannot_tell("the program does not switch the model's thinking on")
        tools = [(name, tool) for tools in self._tools.values() for name, tool in tools.items() if isinstance(tool, dict)]
        self._said = [[Call(id, name, args, to_json(args)) for name, tool in tools for id, args in (tool.get("args") or {}).items()]]

    async def begins(self, number):
        url = f"{self.endpoint.base_url.rstrip('/')}/runs/{number}"
        request = urllib.request.Request(url, b"", {"authorization": f"Bearer {self.endpoint.api_key}"})
        await asyncio.to_thread(lambda: urllib.request.urlopen(request).close())

    def _find(self, name, args, call_id, agent):
        found = super()._find(name, args, call_id, agent)
        # The script of a tool without results by id does not name its calls.
        return Call(call_id, name, args, to_json(args)) if found is None and call_id is not None else found


def session_of(framework):
    """The module that puts the framework behind op `session`."""
    sys.path.insert(0, str(FRAMEWORKS / framework))
    spec = importlib.util.spec_from_file_location(f"{framework}.session", FRAMEWORKS / framework / "session.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def serve_sessions_over_wire(thread, *, features, apis, handoff=None, reasons=False, saves=None, systems=None, **implementation):
    """Answers requests of op `session` until stdin ends."""
    # Of its own, since `serve` gives stdout to the log: a kill writes before it ends the process.
    replies = os.fdopen(os.dup(1), "wb")
    said = {name: value for name, value in {"saves": saves, "systems": systems}.items() if value}

    async def play(session):
        await session.play(thread(session))

    new_run = lambda request: WireSession(request, handoff, replies, reasons)  # noqa: E731
    serve(play, new_run=new_run, ops=["session"], session=features, apis=apis, **said, **implementation)
