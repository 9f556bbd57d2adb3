"""The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.

Replace `escape` with your own function, and add the operations that you have.
"""

import json
import sys

REPLACEMENTS = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;"})


def escape(arguments, profile):
    return arguments["text"].translate(REPLACEMENTS)


OPERATIONS = {"escape": escape}


def answer(request):
    id, op = request["id"], request["op"]
    if op == "hello":
        implementation = {"name": "my-agent", "version": "0.1.0", "language": "Python"}
        hello = {"protocol": 1, "implementation": implementation, "ops": list(OPERATIONS), "profiles": ["literal"]}
        return {"id": id, "ok": hello}
    if op not in OPERATIONS:
        return {"id": id, "unsupported": "not done yet"}
    try:
        return {"id": id, "ok": OPERATIONS[op](request["input"], request.get("profile"))}
    except Exception as error:
        # The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
        return {"id": id, "reject": {"kind": "invalid-input", "message": repr(error)}}


def read_and_answer(line):
    try:
        # ASCII, because a lone surrogate can only be written as an escape. JSON has no `NaN` and `Infinity`.
        return json.dumps(answer(json.loads(line)), allow_nan=False)
    except (ValueError, RecursionError) as error:
        # The parser refuses a number of 5,000 digits and deep nesting. A line begins with its id.
        id = int(line[len(b'{"id":') : line.index(b",")])
        return json.dumps({"id": id, "reject": {"kind": "invalid-input", "message": repr(error)}})


def main():
    # Bytes, so that neither the locale nor the platform's line ends interfere.
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(read_and_answer(line).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
