"""Says what is wrong with messages, requests and logs: ``threadspec check`` without a process."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Optional, Union

from threadspec import _native

Level = Literal["error", "warning", "note"]
Api = Literal["openai-chat", "openai-responses", "anthropic", "gemini"]


@dataclass(frozen=True)
class Place:
    """Where something is. What is not known, or does not exist there, is ``None``; ``str()`` is one phrase for people."""

    phrase: str = field(repr=False)
    entry: Optional[str] = None
    """The entry of a container: a file in a zip, a row of a database."""
    line: Optional[int] = None
    """The line of a text, counted from 1."""
    request: Optional[int] = None
    """The request, counted from 1."""
    after: Optional[int] = None
    """The request that it goes on from, where that matters."""
    element: Optional[str] = None
    """The message, item or event: ``message 5``, counted from 1 (events from 0)."""
    conversation: Optional[str] = None
    """The conversation's key, if the log has one."""
    path: str = ""
    """The path in the request or the record: ``messages[4].tool_call_id``."""

    def __str__(self) -> str:
        return _visible(self.phrase)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong; ``str()`` is one line for people."""

    rule: str
    """The rule that is broken: ``threadspec explain RULE`` has what the API answers, an example, and where it was seen."""
    level: Level
    """``error``: the request is refused, or something is lost. ``warning``: some servers refuse it, or it costs money.
    ``note``: there is nothing to fix."""
    place: Place
    """Where it is."""
    text: str
    """What is wrong there, in one sentence. It may quote any character of the input."""
    advice: str
    """What to do, in one sentence; empty if there is nothing to do."""

    def __str__(self) -> str:
        where = f"{self.place.phrase}: " if self.place.phrase else ""
        at = f" at {self.place.path}" if self.place.path else ""
        return _visible(f"{self.level} {where}{self.text} ({self.rule}{at})")


def check(log: Union[str, bytes, Mapping[str, Any], Iterable[Any]], *, api: Optional[Api] = None) -> list[Finding]:
    """What is wrong with the messages of a conversation, a request, or a log of any form that ``threadspec check`` reads.

    ``log`` is a list of messages, the body of a request (a dict), a list of these, or text: JSON, JSON Lines, the bytes of a whole file.
    Messages may be objects of the SDKs (pydantic models). ``api`` says what the messages are for, and that they were sent to it as they
    are; otherwise their form tells, and calls that are open at the end are only a note.

    Raises ``ValueError`` if there is nothing to judge, or what is given is no JSON (``nan``). Other threads run meanwhile.
    """
    is_text = isinstance(log, (str, bytes, bytearray, memoryview))
    if isinstance(log, str):
        # Half a character is a finding, and no error here.
        data = log.encode("utf-8", "surrogatepass")
    elif isinstance(log, (bytes, bytearray, memoryview)):
        data = bytes(log)
    else:
        data = _native.json_text(log) or json.dumps(log, allow_nan=False, default=_plain).encode("ascii")
    return [
        Finding(rule, level, Place(*place), text, advice)
        for rule, level, place, text, advice in _native.check(data, api, is_text)
    ]


def assert_history(
    messages: Union[str, bytes, Mapping[str, Any], Iterable[Any]], *, api: Optional[Api] = None, strict: bool = False
) -> None:
    """Raises ``AssertionError``, with a line for each fault and one on what to do, if ``check`` finds an error (``strict``: or a warning)."""
    __tracebackhide__ = True
    counting = ("error", "warning") if strict else ("error",)
    faults = [finding for finding in check(messages, api=api) if finding.level in counting]
    if faults:
        lines = [f"{finding}\n  → {finding.advice}" if finding.advice else str(finding) for finding in faults]
        count = "1 fault" if len(faults) == 1 else f"{len(faults)} faults"
        raise AssertionError("\n".join([f"{count} in the history:", *lines]))


def _plain(value: Any) -> Any:
    """What the SDKs send for an object that ``json`` does not know."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json", exclude_unset=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {member.name: getattr(value, member.name) for member in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"{type(value).__name__} is neither JSON nor a message of an SDK")


def _visible(line: str) -> str:
    """The line with escapes instead of control characters, which come from the input."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
