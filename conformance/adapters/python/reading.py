"""Reading parsed JSON: each reader returns a value that the rest can trust, or raises `Reject` with the reason.

For optional fields null means absent, so `None` stands for both everywhere.
"""

import re

from protocol import Reject

_SURROGATE = re.compile("[\ud800-\udfff]")


def required(name, value, read):
    if value is None:
        raise Reject(f"{name}: is missing")
    try:
        return read(value)
    except Reject as reject:
        raise Reject(f"{name}: {reject}") from None


def optional(name, value, read, default=None):
    return default if value is None else required(name, value, read)


def text(value):
    if not isinstance(value, str):
        raise Reject("must be a string")
    # A lone surrogate, from a string cut in two, is no character: no document could carry it.
    return _SURROGATE.sub("\ufffd", value)


def boolean(value):
    if not isinstance(value, bool):
        raise Reject("must be true or false")
    return value


def integer(value):
    # `type`, not `isinstance`: in Python True is an int. JSON has one kind of number, so 1.0 is an integer.
    if type(value) not in (int, float) or value % 1 != 0 or not 0 <= value < 2**53:
        raise Reject("must be an integer from 0 to 2^53-1")
    return int(value)


def json_object(value):
    if not isinstance(value, dict):
        raise Reject("must be an object")
    return value


def one_of(*names):
    def read(value):
        if text(value) not in names:
            raise Reject("must be one of " + ", ".join(names))
        return value

    return read


def array(read_item):
    def read(value):
        if not isinstance(value, list):
            raise Reject("must be an array")
        return [required(str(index), item, read_item) for index, item in enumerate(value)]

    return read


def tool_result(value):
    return text(value) if isinstance(value, str) else value


_EVENT_FIELDS = {
    "message": {"role": one_of("user", "assistant", "system"), "content": text},
    "tool_call": {"toolName": text, "toolCallId": text, "args": json_object},
    "tool_result": {"toolCallId": text},
    "error": {"error": text, "recoverable": boolean},
    "human_input_requested": {"question": text},
    "human_input_received": {"response": text},
    "completion": {"result": text},
    "summary": {"summary": text, "summarizedIterations": array(integer)},
}


def read_events(value):
    """The events with exactly the fields that matter, every one of them present."""
    if not isinstance(value, list):
        raise Reject("events: must be an array")
    events = []
    for index, item in enumerate(value):
        try:
            events.append(_event(item))
        except Reject as reject:
            raise Reject(f"event {index}: {reject}", "invalid-event") from None
    return events


def _event(value):
    event = json_object(value)
    kind = required("type", event.get("type"), one_of(*_EVENT_FIELDS))
    readers = {**_EVENT_FIELDS[kind], "iteration": integer}
    fields = {name: required(name, event.get(name), read) for name, read in readers.items()}
    if kind == "tool_result":
        # JSON drops a member that is undefined. A null is a result of its own.
        fields["result"] = tool_result(event.get("result", "undefined"))
    return {"type": kind, **fields}
