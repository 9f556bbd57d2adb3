"""For tests: whether a testee plays the scripts of `turns.json` as they stand."""

import json
from pathlib import Path

from testee import same

CASES = json.loads(Path(__file__).with_name("turns.json").read_text(encoding="utf-8"))["cases"]
GIVEN = [{"type": "human", "content": "Go"}]


def input_of(case):
    return {"messages": GIVEN, "model": case["model"], "tools": case.get("tools", {})}


def played(case, output):
    """Whether a testee's output is a run of the case, and what it shows."""
    behind = output["messages"][len(GIVEN) :]
    says = [said(message) for message in behind if message["type"] == "ai"]
    answers = [message["content"] for message in behind if message["type"] == "tool"]
    expected = case.get("answers", [])
    is_right = (
        len(output["requests"]) == case["requests"]
        and same(says, [said(message) for message in case["says"]])
        and len(answers) == len(expected)
        and all(map(is_answer, answers, expected))
    )
    return is_right, f"{len(output['requests'])} requests, {says}, {answers}"


def said(message):
    return [message["content"], [[call["id"], call["name"], call["args"]] for call in message.get("tool_calls") or []]]


def is_answer(content, expected):
    if isinstance(expected, str):
        return content == expected
    if isinstance(expected, dict) and list(expected) == ["includes"]:
        return expected["includes"] in content
    return same(json.loads(content), expected)
