"""A thread of agent events as an XML document and as chat messages, in the literal and the hardened profile."""

import ecma
from langchain_messages import message
from reading import one_of, optional, read_events, required, text

_REPLACEMENTS = str.maketrans(
    {
        # What XML 1.0 forbids, even as a character reference.
        **dict.fromkeys((*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20)), "\ufffd"),
        **dict.fromkeys((*range(0xD800, 0xE000), 0xFFFE, 0xFFFF), "\ufffd"),
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&quot;",
        "'": "&apos;",
    }
)
# A parser reads a raw CR as LF, and raw white space in an attribute as spaces; references survive.
_IN_TEXT = {"literal": _REPLACEMENTS, "hardened": {**_REPLACEMENTS, 0x0D: "&#13;"}}
_IN_ATTRIBUTE = {"literal": _REPLACEMENTS, "hardened": {**_REPLACEMENTS, 0x09: "&#9;", 0x0A: "&#10;", 0x0D: "&#13;"}}

# By role for messages; a type that is not listed keeps its name.
_XML_TYPES = {"user": "human", "assistant": "ai", "tool_call": "tool_input", "tool_result": "tool_output"}
_TEXT_FIELDS = {
    "message": "content",
    "error": "error",
    "human_input_requested": "question",
    "human_input_received": "response",
    "completion": "result",
    "summary": "summary",
}


def escape_xml(value, profile="literal"):
    """The form of a text between tags."""
    return required("text", value, text).translate(_IN_TEXT[profile])


def serialize_thread(events, response_prefix=None, profile="literal"):
    """The `<thread>` document, followed by the response prefix on a line of its own."""
    document = _document(read_events(events), profile)
    prefix = optional("responsePrefix", response_prefix, text, "")
    return document + "\n" + prefix if prefix else document


def build_messages(events, context_mode=None, instructions=None, profile="literal"):
    """The messages that show the thread to a model."""
    return messages_of(read_events(events), read_context(context_mode, instructions), profile)


def read_context(context_mode, instructions):
    """The form of the messages, and the instructions that begin them."""
    mode = optional("contextMode", context_mode, one_of("standard", "xml"), "standard")
    return mode, optional("instructions", instructions, text, "")


def messages_of(events, context, profile):
    """The same for events and a context that were read before: a loop does it in each iteration."""
    mode, instructions = context
    system = "\n\n".join(part for part in (_summaries(events), instructions) if part)
    messages = [message("system", system)] if system else []
    if mode == "xml":
        return messages + [_human(_document(events, profile))]
    if profile == "hardened":
        return messages + _paired_messages(events)
    return messages + [single for event in events for single in _event_messages(event)]


def ai_message(content, calls):
    return message("ai", content, tool_calls=calls)


def tool_message(call_id, content):
    return message("tool", content, tool_call_id=call_id)


def result_text(result):
    """A tool result as the model is shown it."""
    return result if isinstance(result, str) else ecma.stringify(result)


def _document(events, profile):
    names = {}
    lines = ["<thread>"]
    for position, event in enumerate(events):
        if event["type"] == "tool_call":
            names[event["toolCallId"]] = event["toolName"]
        attributes = "".join(
            f' {name}="{str(value).translate(_IN_ATTRIBUTE[profile])}"'
            for name, value in _attributes(event, position, names).items()
        )
        lines.append(f"  <event{attributes}>{_body(event, profile).translate(_IN_TEXT[profile])}</event>")
    lines.append("</thread>")
    return "\n".join(lines)


def _attributes(event, position, names):
    kind = event.get("role", event["type"])
    attributes = {"type": _XML_TYPES.get(kind, kind), "id": position}
    if kind in ("tool_call", "tool_result"):
        attributes["name"] = names.get(event["toolCallId"], "unknown")
    if kind == "tool_result":
        attributes["status"] = "success"
    attributes["iteration"] = event["iteration"]
    if kind == "error":
        attributes["recoverable"] = ecma.to_string(event["recoverable"])
    if kind == "summary":
        attributes["summarizedIterations"] = ",".join(map(str, event["summarizedIterations"]))
    return attributes


def _body(event, profile):
    if event["type"] == "tool_call":
        return ecma.stringify(event["args"])
    if event["type"] == "tool_result":
        # The specification says String(result); only JSON tells the model what a structured result holds.
        return result_text(event["result"]) if profile == "hardened" else ecma.to_string(event["result"])
    return event[_TEXT_FIELDS[event["type"]]]


def _summaries(events):
    sections = [
        f"### Iteration(s) {', '.join(map(str, event['summarizedIterations']))}\n{event['summary']}\n\n"
        for event in events
        if event["type"] == "summary"
    ]
    return "## Previous Iteration Summaries\n\n" + "".join(sections) if sections else ""


def _event_messages(event):
    kind = event["type"]
    if kind == "message":
        content = event["content"]
        if event["role"] == "assistant":
            return [ai_message(content, [])]
        return [_human("[System]: " + content if event["role"] == "system" else content)]
    if kind == "tool_call":
        return [_calls_message([event])]
    if kind == "tool_result":
        return [tool_message(event["toolCallId"], result_text(event["result"]))]
    if kind == "error":
        return [_human(("[Error (recoverable)]: " if event["recoverable"] else "[Error]: ") + event["error"])]
    if kind == "human_input_received":
        return [_human("[Human Response]: " + event["response"])]
    return []


def _paired_messages(events):
    """The hardened list: providers refuse calls that are not followed at once by one result each."""
    answers = _answers(events)
    moved = set(answers.values())
    messages = []
    for positions in _groups(events):
        event = events[positions[0]]
        if event["type"] == "tool_call":
            messages.append(_calls_message([events[call] for call in positions]))
            for result in sorted(answers[call] for call in positions if call in answers):
                messages += _event_messages(events[result])
            for call in positions:
                if call not in answers:
                    messages.append(tool_message(events[call]["toolCallId"], "[No result recorded]"))
        elif event["type"] != "tool_result":
            messages += _event_messages(event)
        elif positions[0] not in moved:
            messages.append(_human("[Tool result]: " + result_text(event["result"])))
    return messages


def _answers(events):
    """The position of each call that has a result, with the position of that result."""
    nearest, answers = {}, {}
    for position, event in enumerate(events):
        if event["type"] == "tool_call":
            nearest[event["toolCallId"]] = position
        elif event["type"] == "tool_result" and event["toolCallId"] in nearest:
            answers.setdefault(nearest[event["toolCallId"]], position)
    return answers


def _groups(events):
    """The positions of all events in order, calls that belong in one message together."""
    groups, ids, previous = [], set(), None
    for position, event in enumerate(events):
        current = (event["type"], event["iteration"])
        call_id = event.get("toolCallId")
        if current == previous and event["type"] == "tool_call" and call_id not in ids:
            groups[-1].append(position)
            ids.add(call_id)
        else:
            groups.append([position])
            ids = {call_id}
        previous = current
    return groups


def _human(content):
    return message("human", content)


def _calls_message(events):
    calls = [{"id": event["toolCallId"], "name": event["toolName"], "args": event["args"]} for event in events]
    return ai_message("", calls)
