"""python3 crosscheck.py COMMAND [ARGUMENT…]

Checks the forms that COMMAND writes (the example `wire` of this repository) against LangChain: every list of messages in
the corpus must load from its stored form, be the same messages, and convert to the same OpenAI form. So the corpus
describes messages that exist.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from langchain_core.messages import convert_to_openai_messages, messages_from_dict

from langchain_messages import plain
from protocol import parse

GOLDEN = Path(__file__).resolve().parents[3] / "golden"
MATCHERS = ({"lines"}, {"includes"}, {"any"}, {"literally"})
TEMPLATES = ("concat", "repeat")
TYPES = ("system", "human", "ai", "tool")
SURROGATE = re.compile("[\ud800-\udfff]")


def is_message(value):
    return isinstance(value, dict) and value.get("type") in TYPES and isinstance(value.get("content"), str)


def is_concrete(value):
    if isinstance(value, dict):
        return value.keys() not in MATCHERS and value.keys().isdisjoint(TEMPLATES) and all(map(is_concrete, value.values()))
    return all(map(is_concrete, value)) if isinstance(value, list) else True


def message_lists(value):
    """The lists of messages anywhere in a value, those with matchers or templates left out."""
    if isinstance(value, list) and value and all(map(is_message, value)):
        if is_concrete(value):
            yield value
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from message_lists(member)


def well_formed(value):
    """The value as the command reads it: a lone surrogate is U+FFFD."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {well_formed(name): well_formed(member) for name, member in value.items()}
    return list(map(well_formed, value)) if isinstance(value, list) else value


def corpus():
    """The lists of messages in the corpus, each once."""
    lists = {}
    for path in sorted(GOLDEN.glob("*/*.json")):
        # The lists there are wrong on purpose, or not our output; gateways and sessions have scripts instead.
        if path.parent.name in ("agent", "gateway", "session"):
            continue
        file = parse(path.read_text(encoding="utf-8"))
        for case in file["cases"]:
            if "reject" not in case["expect"]:
                given = []
                if file["op"] == "tools":
                    given = (case["input"] if "input" in case else parse(case["input_json"]))["messages"]
                for messages in [*message_lists(case["expect"]), *message_lists(given)]:
                    lists[json.dumps(well_formed(messages))] = None
    return list(lists)


def read_arguments(messages):
    """OpenAI messages with their arguments parsed: spaces and escapes in that text are a matter of taste."""
    return [
        {**message, "tool_calls": list(map(read_call, message["tool_calls"]))} if "tool_calls" in message else message
        for message in messages
    ]


def read_call(call):
    function = call["function"]
    return {**call, "function": {**function, "arguments": parse(function["arguments"])}}


def require_equal(left, right, what):
    if left != right:
        sys.exit(f"{what}:\n  {left}\n  {right}")


def is_fit(messages):
    """Ids and names that OpenAI refuses are replaced on our side only, and so is an id that comes again."""
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    ids = [call["id"] for call in calls]
    answered = [message["tool_call_id"] for message in messages if "tool_call_id" in message]
    return (
        len(set(ids)) == len(ids)
        and all(0 < len(name) <= 40 for name in ids + answered)
        and all(re.fullmatch("[a-zA-Z0-9_-]{1,64}", call["name"]) for call in calls)
    )


def main(command):
    sys.setrecursionlimit(10_000)  # The corpus has inputs that are nested deeper than Python's JSON likes.
    if not command:
        sys.exit(__doc__)
    lists = corpus()
    if not lists:
        sys.exit("no list of messages was found")
    written = "".join(line + "\n" for line in lists)
    output = subprocess.run(command, input=written, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    # Not `splitlines`, which also ends a line at U+2028.
    forms = [parse(line) for line in output.split("\n")[:-1]]
    require_equal(len(forms), len(lists), "one line for each list")
    compared = 0
    for line, form in zip(lists, forms):
        messages = messages_from_dict(form["langchain"])
        require_equal(plain(messages), parse(line), "the messages loaded from the stored form")
        if not is_fit(parse(line)):
            continue
        compared += 1
        converted = convert_to_openai_messages(messages)
        require_equal(read_arguments(form["openai"]), read_arguments(converted), f"the OpenAI form of {line}")
    print(f"{len(lists)} lists of messages compared with langchain-core, {compared} of them in the OpenAI form")


main(sys.argv[1:])
