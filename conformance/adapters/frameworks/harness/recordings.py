"""Keeps recordings, which are transcripts, and adds new cases to them."""

import json
import lzma
import os
import re

# The number of the request that a line begins with, or corrects.
NUMBER = re.compile(r'(\{"(?:request":\{")?id":)(-?\d+)')
# Quick: a higher preset takes minutes for a hundred megabytes, and saves nothing. A large dictionary, since what is repeated is megabytes away.
XZ = {"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 64 << 20}


def compressed(said):
    return lzma.compress(said if isinstance(said, bytes) else said.encode(), filters=[XZ])


def keep(root, transcripts, days, superseded=()):
    """Writes recordings by their paths, and their days into `days.json` of the root: all of them, or none. Recordings of the adapters that they supersede go.

    Each is whole before the first gets its name. The days come first: a day without a recording says nothing, a recording without one cannot be shown.
    """
    kept = root / "days.json"
    gone = {adapter.day for adapter in superseded}
    whole = {**{name: day for name, day in (json.loads(kept.read_text()) if kept.exists() else {}).items() if name not in gone}, **days}
    texts = {kept: (json.dumps(whole, indent=1, sort_keys=True) + "\n").encode(), **{path: compressed(said) for path, said in transcripts.items()}}
    parts = {path: path.with_name(f".{path.name}.part") for path in texts}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            parts[path].write_bytes(text)
        for path, part in parts.items():
            os.replace(part, path)
        for adapter in superseded:
            adapter.recording.unlink()
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def added(old, new):
    """The old transcript, with the cases of the new one added.

    Raises ValueError if a case is in both: cases are told apart by their inputs alone, so it would not be known which counts.
    """
    # Not `splitlines`, which also divides texts at U+2028 and the like.
    (head, *lines), (head_of_new, *more) = old.rstrip("\n").split("\n"), new.rstrip("\n").split("\n")
    head, cases = json.loads(head), json.loads(head_of_new)["cases"]
    if again := sorted(set(head["cases"]) & set(cases)):
        raise ValueError(f"the recording has {again[0]} already; record all cases again")
    head["cases"] += cases
    # The new requests are numbered after the old ones. All else stays as it is written, so that no number changes its spelling.
    last = max((int(number[2]) for number in map(NUMBER.match, lines) if number), default=0)
    more = [NUMBER.sub(lambda number: f"{number[1]}{last + int(number[2])}", line, count=1) for line in more]
    return "".join(f"{line}\n" for line in [json.dumps(head, separators=(",", ":")), *lines, *more])
