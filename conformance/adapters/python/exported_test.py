"""The exported cases under pytest: `threadspec export --plain cases.jsonl`, then `CASES=cases.jsonl pytest exported_test.py`."""

import json
import os
import pathlib

import pytest
from handlers import HANDLERS
from protocol import Reject, parse

CASES = [parse(line) for line in pathlib.Path(os.environ["CASES"]).read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['profile']}")
def test_exported(case):
    for before in case.get("after", []):
        answer(before, case)
    outcome = answer(case, case)
    if "ok" in case:
        assert outcome in map(spelled, case["ok"])
    else:
        kind, message = outcome
        assert kind == case["reject"]
        for part in case.get("message", []):
            assert part in message


def answer(request, case):
    given = request["input"] if "input" in request else parse(request["input_json"])
    try:
        return spelled(HANDLERS[case["op"]](given, case["profile"]))
    except Reject as refusal:
        return refusal.kind, str(refusal)


def spelled(value):
    """The value as text, since Python takes 1 for True, with one spelling for each number."""
    return json.dumps(json.loads(json.dumps(value), parse_float=number, parse_int=number), sort_keys=True)


def number(text):
    value = float(text)
    return int(value) if value.is_integer() else value
