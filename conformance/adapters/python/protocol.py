"""The threadspec protocol: one JSON request per line on stdin, one JSON reply per line on stdout.

This file stands alone. Copy it, give `serve` a table of your functions, and your code can be verified.
"""

import contextlib
import json
import re
import sys

PROTOCOL = 1

_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*([0-9]{1,15})\s*[,}]')


class Reject(Exception):
    """Raised by a handler to refuse its input. The kind is `invalid-event` or `invalid-input`."""

    def __init__(self, message, kind="invalid-input"):
        super().__init__(message)
        self.kind = kind


def serve(handlers, implementation, profiles=("literal",)):
    """Answers requests until stdin ends.

    `handlers` maps each op to a function of (input, profile) that returns the output or raises `Reject`.
    Any other exception ends the process, as it should: the runner reports a crash, and stderr has the traceback.
    """
    hello = {
        "protocol": PROTOCOL,
        "implementation": implementation,
        "ops": list(handlers),
        "profiles": list(profiles),
    }
    # Bytes on both sides: the protocol is UTF-8, whatever the locale says.
    replies = sys.stdout.buffer
    # A stray print in the code under test goes to the log, not between the replies.
    with contextlib.redirect_stdout(sys.stderr):
        for line in sys.stdin.buffer:
            reply = _reply(line, handlers, hello)
            if reply is not None:
                replies.write(reply.encode("ascii") + b"\n")
                replies.flush()


def parse(text):
    """Parses JSON with the numbers of ECMAScript, and without the NaN and Infinity that Python would accept.

    Duplicate keys need no care: like a JavaScript object, a dict keeps the first position and the last value.
    """
    return json.loads(text, parse_int=_integer, parse_constant=_refuse_constant)


def _reply(line, handlers, hello):
    problem = None
    try:
        request = parse(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        # The runner waits for this id, so it is worth digging out of a line that cannot be read as a whole.
        found = _LEADING_ID.match(line)
        request = {"id": int(found[1])} if found else None
        problem = f"unreadable request: {error}"
    if not isinstance(request, dict) or type(request.get("id")) is not int:
        if line.strip():
            print("ignored: a line that is not a request with an integer id", file=sys.stderr)
        return None

    try:
        if problem:
            raise Reject(problem)
        return _encode(request, _result(request, handlers, hello))
    except Reject as reject:
        return _encode(request, _rejection(reject))
    except RecursionError:
        return _encode(request, _rejection(Reject("nested too deeply")))


def _result(request, handlers, hello):
    op, profile, arguments = request.get("op"), request.get("profile") or "literal", request.get("input")
    if op == "hello":
        return {"ok": hello}
    if not isinstance(op, str) or op not in handlers:
        return {"unsupported": f"unknown op {op!r}"}
    if profile not in hello["profiles"]:
        return {"unsupported": f"unknown profile {profile!r}"}
    if not isinstance(arguments, dict):
        raise Reject("input: must be an object")
    return {"ok": handlers[op](arguments, profile)}


def _rejection(reject):
    return {"reject": {"kind": reject.kind, "message": str(reject)}}


def _encode(request, result):
    try:
        # ASCII only, so that even a lone surrogate in an output makes a valid line.
        return json.dumps({"id": request["id"], **result}, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:
        raise Reject(f"the output cannot be written as JSON: {error}") from error


def _integer(digits):
    # By way of a double: integers beyond 2^53 are doubles in ECMAScript, and int() refuses more than 4300 digits.
    double = float(digits)
    return int(double) if abs(double) < 2**53 else double


def _refuse_constant(name):
    raise ValueError(f"{name} is not JSON")
