"""Converts the protocol's messages to and from the input items of OpenAI's Responses API."""

from testee import from_json, to_json


def to_items(messages):
    items = []
    for message in messages:
        kind, content = message["type"], message["content"]
        calls = message.get("tool_calls") or []
        if kind == "tool":
            items.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": content})
        elif content or not calls:
            items.append({"role": {"human": "user", "ai": "assistant"}.get(kind, kind), "content": content})
        for call in calls:
            arguments = to_json(call.get("args") or {})
            items.append({"type": "function_call", "call_id": call["id"], "name": call["name"], "arguments": arguments})
    return items


def describe(items):
    """Calls belong to the text or the calls directly before them: a response is one message."""
    messages, previous = [], None
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "function_call":
            if previous != "assistant":
                messages.append({"type": "ai", "content": ""})
            call = {"id": item["call_id"], "name": item["name"], "args": from_json(item["arguments"])}
            messages[-1].setdefault("tool_calls", []).append(call)
            previous = "assistant"
        elif kind == "function_call_output":
            messages.append({"type": "tool", "content": text(item["output"]), "tool_call_id": item["call_id"]})
            previous = "tool"
        else:
            previous = item["role"]
            role = {"user": "human", "assistant": "ai"}.get(previous, previous)
            messages.append({"type": role, "content": text(item["content"])})
    return messages


def text(content):
    return content if isinstance(content, str) else "".join(part.get("text", to_json(part)) for part in content)
