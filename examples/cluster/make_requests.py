"""Writes JSON Lines of requests of many conversations, every tenth with a fault, in several files, as a cluster's gateway would.

    python make_requests.py FOLDER CONVERSATIONS [REQUESTS-OF-EACH]
"""

import json
import sys
from pathlib import Path

FILES = 8


def requests(number: int, turns: int):
    """The requests of a conversation: each goes on from the one before by a call and its result."""
    messages = [{"role": "user", "content": f"Task {number}: list the files, then say what they are for."}]
    for turn in range(turns):
        yield {"model": "gpt-4.1", "messages": list(messages)}
        call = {"id": f"call_{turn}", "type": "function", "function": {"name": "run", "arguments": json.dumps({"command": f"ls {turn}"})}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        # The bug of every tenth: the third result names another call.
        answered = f"call_{turn}" if turn != 2 or number % 10 else "call_x"
        messages.append({"role": "tool", "tool_call_id": answered, "content": f"file-{turn}.txt\n" * 8})


def write(folder: Path, conversations: int, turns: int) -> int:
    """Writes the folder; how many requests have a conversation with a fault."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [(folder / f"part-{part}.jsonl").open("w") for part in range(FILES)]
    # Those of a conversation are spread over the files, since each of its requests may have reached another machine.
    for number in range(conversations):
        for turn, request in enumerate(requests(number, turns)):
            record = {"conversation": f"c{number}", "time": f"2026-01-01T00:00:{turn:02}Z", "request": request}
            files[(number + turn) % FILES].write(json.dumps(record) + "\n")
    for file in files:
        file.close()
    return sum(number % 10 == 0 for number in range(conversations))


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 4)
