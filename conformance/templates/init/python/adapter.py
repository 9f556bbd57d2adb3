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
        # Not in `tools` once the model was asked: that is `ok` with the requests so far, and says in `failure` why the run ended.
        return {"id": id, "reject": {"kind": "invalid-input", "message": repr(error)}}


def main():
    # Bytes, so that neither the locale nor the platform's line ends interfere.
    for line in sys.stdin.buffer:
        # ASCII, because a lone surrogate can only be written as an escape.
        sys.stdout.buffer.write(json.dumps(answer(json.loads(line))).encode("ascii") + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
