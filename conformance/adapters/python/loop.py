"""Tool rounds and the outer loop, over a scripted model, scripted tools and a scripted verifier."""

from itertools import chain, count, repeat

from langchain_messages import message, plain
from protocol import Reject
from reading import array, boolean, integer, json_object, one_of, optional, required, text, tool_result
from threadspec import ai_message, messages_of, read_context, result_text, tool_message

_MAX_FAILURES = 3


def run_tools(script, profile="literal"):
    """One conversation: asks the model and runs its tool calls until it answers without any."""
    model, messages = tool_rounds(script, profile)
    return {"requests": model.requests, "messages": plain(messages)}


def tool_rounds(script, profile):
    """The same; returns the model, which knows what it was asked, and all messages."""
    messages = required("messages", script.get("messages"), array(_message))
    model = _Model(script, profile, messages)
    tools = _Tools(script)
    depth = optional("maxRecursionDepth", script.get("maxRecursionDepth"), integer)
    rounds = 0
    try:
        while True:
            reply = model.ask(messages)
            # A new list for each request: the model may have kept the last one.
            messages = [*messages, reply]
            if not reply.tool_calls:
                break
            if rounds == depth:
                if profile == "hardened":
                    # Providers take no list in which a call stays open.
                    messages += [tool_message(call["id"], "[Not executed: limit reached]") for call in reply.tool_calls]
                break
            for call in reply.tool_calls:
                messages.append(tool_message(call["id"], tools.run(call["name"])))
            rounds += 1
    except _ModelFailed:
        pass
    return model, messages


def run_loop(script, profile="literal"):
    """The outer loop: iterations over one growing thread, until the work is verified or a limit is reached."""
    prompt = required("prompt", script.get("prompt"), text)
    model = _Model(script, profile)
    tools = _Tools(script)
    verdicts = optional("verify", script.get("verify"), array(_verdict))
    verifier = None if verdicts is None else chain(verdicts, repeat({"complete": True, "reason": ""}))
    max_iterations = optional("maxIterations", script.get("maxIterations"), integer)
    max_calls = optional("maxToolCallsPerIteration", script.get("maxToolCallsPerIteration"), integer, 20)
    context = read_context(script.get("contextMode"), script.get("instructions"))

    events = []
    iteration = failures = 0
    stop_reason = None

    def record(event):
        events.append({**event, "iteration": iteration})

    record(_message_event("user", prompt))
    while stop_reason is None:
        iteration += 1
        messages = messages_of(events, context, profile)
        try:
            for event in _iterate(messages, model, tools, max_calls, profile):
                record(event)
        except _ModelFailed as failure:
            failures += 1
            recoverable = failures < _MAX_FAILURES
            record({"type": "error", "error": str(failure), "recoverable": recoverable})
            stop_reason = None if recoverable else "max_errors"
            continue
        failures = 0
        if max_iterations is not None and iteration >= max_iterations:
            stop_reason = "stop_condition"
            continue
        verdict = next(verifier) if verifier else None
        if verdict is None or verdict["complete"]:
            record({"type": "completion", "result": model.response, "verified": verdict is not None})
            stop_reason = "completed"
        elif verdict["reason"]:
            record(_message_event("user", f"Verification failed: {verdict['reason']}. Please try again."))
    return {
        "requests": model.requests,
        "events": events,
        "response": model.response,
        "iterations": iteration,
        "stopReason": stop_reason,
    }


def _iterate(messages, model, tools, max_calls, profile):
    """Yields the events of one iteration as they happen, so that those before a failure are kept."""
    reply = ai_message("", [])
    for _ in range(max_calls):
        reply = model.ask(messages)
        messages.append(reply)
        if profile == "hardened" or not reply.tool_calls:
            yield from _assistant_text(reply)
        if not reply.tool_calls:
            return
        for call in reply.tool_calls:
            yield {"type": "tool_call", "toolName": call["name"], "toolCallId": call["id"], "args": call["args"]}
            shown = tools.run(call["name"])
            messages.append(tool_message(call["id"], shown))
            yield {"type": "tool_result", "toolCallId": call["id"], "result": shown}
    if profile != "hardened":
        yield from _assistant_text(reply)


def _assistant_text(reply):
    if reply.content:
        yield _message_event("assistant", reply.content)


def _message_event(role, content):
    return {"type": "message", "role": role, "content": content}


class _ModelFailed(Exception):
    pass


class _Model:
    """Plays back the turns of a script; remembers what it was asked and what it said last."""

    def __init__(self, script, profile, messages=()):
        self._profile = profile
        # Every id of the conversation so far, of calls and of answers.
        self._ids = {call["id"] for shown in plain(messages) for call in shown.get("tool_calls", ())}
        self._ids |= {shown["tool_call_id"] for shown in plain(messages) if "tool_call_id" in shown}
        self._turns = chain(
            required("model", script.get("model"), array(_turn)),
            repeat(_ModelFailed("script exhausted")),
        )
        # The requests as they were when they came, and the same lists, which may change later.
        self.requests, self.handed = [], []
        self.response = ""

    def ask(self, messages):
        self.requests.append(plain(messages))
        self.handed.append(messages)
        turn = next(self._turns)
        if isinstance(turn, _ModelFailed):
            raise turn
        self.response = turn.content
        return self._with_distinct_ids(turn) if self._profile == "hardened" else turn

    def _with_distinct_ids(self, turn):
        """The turn with `<id>_2`, `<id>_3`, ... for an id that it repeats, each the first that nothing else has."""
        self._ids.update(call["id"] for call in turn.tool_calls)
        calls, numbers = [], {}
        for call in turn.tool_calls:
            own = call["id"]
            if own in numbers:
                names = (f"{own}_{number}" for number in numbers[own])
                self._ids.add(own := next(name for name in names if name not in self._ids))
            else:
                numbers[own] = count(2)
            calls.append({**call, "id": own})
        return ai_message(turn.content, calls)


class _Tools:
    """Plays back the results of each tool, the last one for ever."""

    def __init__(self, script):
        scripts = optional("tools", script.get("tools"), json_object, {})
        self._results = {}
        for name, value in scripts.items():
            results = required(f"tools: {name}", value, _results)
            self._results[text(name)] = chain(results[:-1], repeat(results[-1] if results else ""))

    def run(self, name):
        """What the model is shown. A call that fails is answered too: none may be left without its result."""
        return next(self._results[name]) if name in self._results else f'Tool not found: "{name}"'


def _results(value):
    # Not `array`: a result may be null.
    if not isinstance(value, list):
        raise Reject("must be an array")
    # Written here, so that a result that is nested too deeply is refused before the model is asked.
    return [_shown(tool_result(result)) for result in value]


def _shown(result):
    if isinstance(result, dict) and len(result) == 1 and isinstance(result.get("error"), str):
        return "Tool error: " + text(result["error"])
    return result_text(result)


def _turn(value):
    turn = json_object(value)
    error = optional("error", turn.get("error"), text)
    return _assistant_message(turn) if error is None else _ModelFailed(error)


def _assistant_message(turn):
    return ai_message(optional("content", turn.get("content"), text, ""), _calls(turn))


def _message(value):
    source = json_object(value)
    kind = required("type", source.get("type"), one_of("system", "human", "ai", "tool"))
    content = required("content", source.get("content"), text)
    if kind == "ai":
        return ai_message(content, _calls(source))
    if kind == "tool":
        return tool_message(required("tool_call_id", source.get("tool_call_id"), text), content)
    return message(kind, content)


def _calls(source):
    return optional("tool_calls", source.get("tool_calls"), array(_call), [])


def _call(value):
    call = json_object(value)
    return {
        "id": required("id", call.get("id"), text),
        "name": required("name", call.get("name"), text),
        "args": optional("args", call.get("args"), json_object, {}),
    }


def _verdict(value):
    verdict = json_object(value)
    return {
        "complete": required("complete", verdict.get("complete"), boolean),
        "reason": optional("reason", verdict.get("reason"), text, ""),
    }
