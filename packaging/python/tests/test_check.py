"""``threadspec.check`` on what Python programs have in memory."""

import dataclasses
import gzip
import json
import pickle
import sys
import threading
import time
from types import MappingProxyType

import pytest
import threadspec

CALL = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
RIGHT = [
    {"role": "user", "content": "2 + 2? Grüße"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "4"},
    {"role": "assistant", "content": "4."},
]
# The answer is lost, and the conversation goes on.
LOST = [*RIGHT[:2], RIGHT[3], {"role": "user", "content": "And 3 + 3?"}]


def rules(findings):
    return [finding.rule for finding in findings]


def test_right_messages_have_no_finding():
    assert threadspec.check(RIGHT) == []
    threadspec.assert_history(RIGHT, strict=True)


def test_a_lost_result_is_found_with_its_place_and_what_to_do():
    found = threadspec.check(LOST)
    finding = next(finding for finding in found if finding.rule == "OAI-CHAT-ANSWERED")
    assert (finding.level, finding.place.element) == ("error", "message 3")
    assert finding.place.path.startswith("messages[2]")
    assert "c1" in finding.text and finding.advice.startswith("Put one result")
    # Objects have no lines; a text has.
    assert finding.place.line is None and "line" not in str(finding)
    assert threadspec.check(json.dumps(LOST))[0].place.line == 1


@pytest.mark.parametrize(
    "given",
    [
        LOST,
        tuple(LOST),
        iter(LOST),
        {"model": "gpt-4.1", "messages": LOST},
        MappingProxyType({"model": "gpt-4.1", "messages": LOST}),
        [{"model": "gpt-4.1", "messages": RIGHT}, {"model": "gpt-4.1", "messages": LOST}],
        json.dumps(LOST),
        json.dumps({"model": "gpt-4.1", "messages": LOST}, indent=2).encode(),
        bytearray(json.dumps(LOST), "ascii"),
        "\n".join(json.dumps({"model": "gpt-4.1", "messages": messages}) for messages in (RIGHT, LOST)),
        gzip.compress(json.dumps(LOST).encode()),
    ],
    ids=lambda given: type(given).__name__,
)
def test_every_form_of_argument_is_read(given):
    assert "OAI-CHAT-ANSWERED" in rules(threadspec.check(given))


def test_an_open_call_is_a_note_in_a_history_and_an_error_in_a_request():
    assert [(finding.rule, finding.level) for finding in threadspec.check(RIGHT[:2])] == [("LOG-OPEN", "note")]
    threadspec.assert_history(RIGHT[:2])
    assert "OAI-CHAT-ANSWERED" in rules(threadspec.check(RIGHT[:2], api="openai-chat"))
    anthropic = [{"role": "user", "content": "x"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "a", "input": {}}]}]
    assert any(rule.startswith("ANT-") for rule in rules(threadspec.check(anthropic, api="anthropic")))


def test_messages_may_be_objects():
    class Message:
        """As pydantic's models, of which the SDKs' messages are made."""

        def model_dump(self, *, mode, exclude_unset):
            assert mode == "json" and exclude_unset
            return LOST[1]

    @dataclasses.dataclass
    class Own:
        role: str
        content: str

    assert "OAI-CHAT-ANSWERED" in rules(threadspec.check([LOST[0], Message(), Own("assistant", "4."), LOST[3]]))
    assert threadspec.check([RIGHT[0], Message(), *RIGHT[2:]]) == []


def test_a_half_character_is_a_finding_and_no_error():
    half = [{"role": "user", "content": "cut off \ud83d"}]
    assert rules(threadspec.check(half)) == ["DS-UTF16"]
    assert rules(threadspec.check(json.dumps(RIGHT, ensure_ascii=False).replace("Grüße", "\ud83d"))) == ["LOG-UTF8"]


class Word(str):
    """As the members of an ``enum`` of texts."""


@pytest.mark.parametrize(
    "odd",
    ["Grüße \"\\\n\x00\x7f\u2028😀", Word("user"), "half \ud83d", True, None, 0, -1, 2**63 - 1, 2**63, -(2**70), 0.5, 1e300, {}, [], (1,), {7: 7}],
)
def test_values_are_what_their_json_is(odd):
    # It is quoted where a call has it instead of arguments that are a text.
    call = {**CALL, "function": {"name": "add", "arguments": {"x": [odd]}}}
    messages = [RIGHT[0], {"role": "assistant", "content": None, "tool_calls": [call]}, RIGHT[2]]
    as_text = threadspec.check(json.dumps(messages))
    assert "OAI-CHAT-ARGS-STRING" in rules(as_text)
    assert [(one.rule, one.text, one.place.path) for one in threadspec.check(messages)] == [(one.rule, one.text, one.place.path) for one in as_text]


def test_what_holds_itself_is_no_json():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="Circular"):
        threadspec.check(endless)
    deep = [{"role": "user", "content": json.loads("[" * 300 + "]" * 300)}]
    assert rules(threadspec.check(deep)) == rules(threadspec.check(json.dumps(deep)))


@pytest.mark.parametrize("nothing", ["", "no JSON", 7, None, {"a": 1}, [], [[]], {}, "[]"])
def test_where_nothing_is_judged_nothing_holds(nothing):
    with pytest.raises(ValueError, match="nothing in it"):
        threadspec.check(nothing)
    with pytest.raises(ValueError, match="nothing in it"):
        threadspec.assert_history(nothing)


def test_what_is_wrong_with_the_arguments_is_said():
    with pytest.raises(ValueError, match="expected openai-chat, "):
        threadspec.check(RIGHT, api="openai")
    with pytest.raises(ValueError, match="not JSON compliant"):
        threadspec.check([{"role": "user", "content": float("nan")}])
    with pytest.raises(TypeError, match="object is neither JSON nor a message"):
        threadspec.check([object()])


def test_a_failed_assertion_can_be_read():
    with pytest.raises(AssertionError) as raised:
        threadspec.assert_history([*LOST, {"role": "tool", "tool_call_id": "\x1b[31mred", "content": "x"}])
    text = str(raised.value)
    assert "faults in the history:\nerror " in text
    assert '(OAI-CHAT-ANSWERED at messages[2]' in text and "\n  → Put one result for each call" in text
    # What stands in messages never colours a terminal.
    assert "red" in text and "\x1b" not in text


def test_findings_are_values():
    first, second = threadspec.check(LOST), threadspec.check(LOST)
    assert first == second and len(set(first + second)) == len(set(first))
    assert pickle.loads(pickle.dumps(first)) == first
    with pytest.raises(dataclasses.FrozenInstanceError):
        first[0].rule = "other"


def test_parts_have_the_findings_of_the_whole():
    def log(key):
        return [{"model": f"model-{key}", "messages": messages} for messages in (RIGHT[:1], LOST[:3], LOST)]

    texts = lambda findings: sorted((f.rule, f.level, f.text, f.advice) for f in findings)  # noqa: E731
    whole = threadspec.check([request for requests in zip(*map(log, range(5))) for request in requests])
    assert texts(whole) == texts(finding for key in range(5) for finding in threadspec.check(log(key)))


def test_other_threads_run_meanwhile():
    log = "\n".join([json.dumps({"model": "m", "messages": RIGHT * 20})] * 100)
    enough, ended, ticks = threading.Event(), threading.Event(), 0

    def work():
        # If nobody else runs, nobody says that it is enough.
        for _ in range(200):
            threadspec.check(log)
            if enough.is_set():
                break
        ended.set()

    # No thread gives the lock up by itself within this test.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    try:
        worker = threading.Thread(target=work)
        worker.start()
        while not ended.is_set():
            ticks += 1
            if ticks > 3:
                enough.set()
            time.sleep(0.001)
        worker.join()
    finally:
        sys.setswitchinterval(interval)
    assert ticks > 3
