"""Recordings: transcripts as they are kept."""

import json
import re

# Of the request that a line begins with, or corrects.
NUMBER = re.compile(r'(\{"(?:request":\{")?id":)(-?\d+)')


def added(old, new):
    """A transcript with what was said in another one about new cases.

    Raises ValueError if a case is in both: of what is told apart by its input alone, nobody could say which counts.
    """
    (head, *lines), (head_of_new, *more) = old.splitlines(), new.splitlines()
    head, cases = json.loads(head), json.loads(head_of_new)["cases"]
    if again := sorted(set(head["cases"]) & set(cases)):
        raise ValueError(f"the recording has {again[0]} already; record all cases again")
    head["cases"] += cases
    # The numbers of the requests go on. All else stays as it is written, so that no number changes its spelling.
    last = max((int(number[2]) for number in map(NUMBER.match, lines) if number), default=0)
    more = [NUMBER.sub(lambda number: f"{number[1]}{last + int(number[2])}", line, count=1) for line in more]
    return "".join(f"{line}\n" for line in [json.dumps(head, separators=(",", ":")), *lines, *more])
