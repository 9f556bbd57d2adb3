"""Starts ``threadspec provider``, and asks for its verdict."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import string
import subprocess
import sys
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Mapping, Sequence, Union

Script = Union[Sequence[Mapping[str, Any]], Mapping[str, Any]]

# Only a program that hangs takes so long to start, or to end.
_PATIENCE = 60.0


@dataclass(frozen=True)
class Verdict:
    """What the provider says of the requests that it got."""

    conformant: bool
    """Whether at least one request was judged, and nothing counts against the agent."""
    exit_code: int
    """0 conformant, 1 not, 2 wrong usage, 3 it could not listen, 4 the script is at fault."""
    text: str
    """The findings, for people."""


class Provider:
    """A model provider on 127.0.0.1, in a process of its own.

    ``script`` is a list of turns, such as ``{"content": "Hi", "tool_calls": [{"name": "look", "args": {}}]}``, or a whole script with
    rules. ``options`` are further arguments of ``threadspec provider``.
    """

    def __init__(self, script: Script, *, options: Sequence[str] = ()) -> None:
        alphabet = string.ascii_letters + string.digits
        #: The API key that the agent has to send.
        self.key = "sk-threadspec-" + "".join(secrets.choice(alphabet) for _ in range(24))
        self._verdict: Verdict | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="threadspec-")
        folder = Path(self._folder.name)
        written = script if isinstance(script, Mapping) else {"model": list(script)}
        (folder / "script.json").write_text(json.dumps(written), encoding="utf-8")
        # A file and no pipe: a long report never waits for a reader.
        with open(folder / "output", "wb") as output:
            self._process = subprocess.Popen(
                [
                    program(), "provider", "--script", str(folder / "script.json"), "--key", self.key,
                    "--ready-file", str(folder / "ready.json"), "--end-with-stdin", *options,
                ],
                stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
            )
        try:
            ready = self._wait_for(folder / "ready.json")
        except BaseException:
            self._process.kill()
            self._end()
            raise
        #: Where it listens: ``http://127.0.0.1:PORT``.
        self.url: str = ready["url"]

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI's SDK, for both of its APIs."""
        return f"{self.url}/v1"

    @property
    def anthropic_url(self) -> str:
        """The base URL for Anthropic's SDK."""
        return self.url

    def verdict(self) -> Verdict:
        """Ends the provider, and returns its verdict. Further calls return the same."""
        if self._verdict is None:
            self._end()
            text = (Path(self._folder.name) / "output").read_text(encoding="utf-8", errors="replace")
            code = self._process.returncode
            self._verdict = Verdict(conformant=code == 0, exit_code=code, text=text)
            self._folder.cleanup()
        return self._verdict

    def assert_conformant(self) -> None:
        """Ends the provider, and raises AssertionError with its findings if anything counts against the agent.

        An agent that sent no request is not conformant, either.
        """
        __tracebackhide__ = True
        verdict = self.verdict()
        if not verdict.conformant:
            raise AssertionError(f"threadspec provider: exit code {verdict.exit_code}\n{verdict.text}")

    def close(self) -> None:
        """Ends the provider, whatever its verdict."""
        self.verdict()

    @property
    def is_judged(self) -> bool:
        """Whether its verdict was asked for."""
        return self._verdict is not None

    def __enter__(self) -> Provider:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _wait_for(self, ready: Path) -> dict[str, Any]:
        until = time.monotonic() + _PATIENCE
        while not ready.exists():
            if self._process.poll() is not None:
                output = (ready.parent / "output").read_text(encoding="utf-8", errors="replace")
                raise RuntimeError(f"threadspec provider ended with exit code {self._process.returncode}: {output}")
            if time.monotonic() > until:
                raise RuntimeError(f"threadspec provider did not start within {_PATIENCE:.0f} s")
            time.sleep(0.002)
        return json.loads(ready.read_text(encoding="utf-8"))

    def _end(self) -> None:
        # It ends when its standard input does; so it also ends with a test run that is killed.
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def program() -> str:
    """The path of the program: ``THREADSPEC`` if it is set, else the one of this package, else the one on ``PATH``."""
    chosen = os.environ.get("THREADSPEC")
    if chosen:
        return chosen
    name = "threadspec.exe" if sys.platform == "win32" else "threadspec"
    beside = [Path(sysconfig.get_path("scripts")), Path(sys.executable).parent]
    installed = next((str(folder / name) for folder in beside if (folder / name).is_file()), None)
    found = installed or shutil.which("threadspec")
    if found is None:
        raise FileNotFoundError("the program threadspec is neither in this environment nor on PATH")
    return found
