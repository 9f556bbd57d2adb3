"""The agent of the programs on plain SDKs: the loop that an application writes around its model client."""

import re
from dataclasses import dataclass
from itertools import count, groupby

from wire import ScriptedFailure, dump, from_json, serve_over_wire, to_json

SURROGATE = re.compile("[\ud800-\udfff]")


class Refused(Exception):
    """What the agent does not send, or does not go on with."""


@dataclass
class Call:
    """A call of the model; its arguments as the API has them, JSON text or an object."""

    id: str
    name: str
    arguments: str | dict

    @property
    def args(self):
        args = from_json(self.arguments or "{}") if isinstance(self.arguments, str) else self.arguments
        if not isinstance(args, dict):
            raise Refused(f"the arguments of the call {self.id!r} are no JSON object")
        # Raises if a number is beyond the doubles.
        dump(args)
        return args


@dataclass
class Response:
    """What the model said; `items` are what the API wants to see again. A response that was cut off is whole but for its calls."""

    text: str
    calls: list[Call]
    items: list
    cut_off: bool = False


def serve_agent(model, api, **implementation):
    """Serves the agent on one API. `model(endpoint, names)` is its client there, with

    - `items(message)`: a message of the protocol that is no answer, as a list of what the API has for it;
    - `answers(pairs)`: the same for the answers to a response's calls, from ids and texts;
    - `ask(items)`: the response to them, or an exception.
    """
    serve_over_wire(lambda run: converse(run, model(run.endpoint, run.tools)), list, apis=[api], reasons=True, **implementation)


def converse(run, model):
    """Asks the model and runs its calls until it answers without any."""
    require_pairs(run.messages)
    run.given, run.final = run.messages, list(run.messages)
    items = list(given(model, encodable(run.messages)))
    for asked in count(1):
        response = model.ask(items)
        items = [*items, *encodable(response.items)]
        calls = [{"id": call.id, "name": call.name, "args": call.args} for call in response.calls if not response.cut_off]
        run.final.append({"type": "ai", "content": response.text, **({"tool_calls": calls} if calls else {})})
        if response.cut_off and response.calls:
            raise Refused("the response was cut off in its calls")
        if len({call["id"] for call in calls}) < len(calls):
            raise Refused(f"two calls of one response have the same id: {[call['id'] for call in calls]}")
        is_over = run.limit is not None and asked > run.limit
        answers = [(call["id"], "[not run: the limit is reached]" if is_over else answer(run, call)) for call in calls]
        run.final += [{"type": "tool", "content": text, "tool_call_id": id} for id, text in answers]
        if is_over or not calls:
            return
        items = [*items, *model.answers(answers)]


def given(model, messages):
    for are_answers, together in groupby(messages, lambda message: message["type"] == "tool"):
        if are_answers:
            yield from model.answers([(message["tool_call_id"], message["content"]) for message in together])
        else:
            for message in together:
                yield from model.items(message)


def answer(run, call):
    if call["name"] not in run.scripted:
        return f"There is no tool {call['name']!r}. ({call['name']})"
    try:
        result = run.result(call["name"], call["args"], call["id"])
    except ScriptedFailure as error:
        return encodable(f"The tool failed: {error}")
    return encodable(result) if isinstance(result, str) else to_json(result)


def encodable(value):
    """The value with U+FFFD for each half of a character, which no request can carry."""
    if isinstance(value, dict):
        return {encodable(name): encodable(member) for name, member in value.items()}
    if isinstance(value, list):
        return [encodable(element) for element in value]
    return SURROGATE.sub("\ufffd", value) if isinstance(value, str) else value


def require_pairs(messages):
    """Refuses a list in which a call is not answered directly behind its message, or an answer has no call."""
    open_ids = []
    for message in [*messages, {"type": "human"}]:
        if message["type"] == "tool":
            if message["tool_call_id"] not in open_ids:
                raise Refused(f"the answer to {message['tool_call_id']!r} has no call")
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            raise Refused(f"the call {open_ids[0]!r} has no answer")
        else:
            open_ids = [call["id"] for call in message.get("tool_calls") or []]
            if len(set(open_ids)) < len(open_ids):
                raise Refused(f"two calls of one message have the same id: {open_ids}")
