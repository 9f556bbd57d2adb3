"""Converts the protocol's messages to and from the input items of OpenAI's Responses API."""

import base64
import hashlib

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


def plain_call(id, name, arguments):
    return {"id": id, "name": name, "args": from_json(arguments)}


def describe(items, call=plain_call):
    """Reasoning, a text and calls that stand behind one another are one response, and so one message; `call` describes a call."""
    messages, previous = [], None
    for item in [{"role": "user", "content": items}] if isinstance(items, str) else items:
        kind = item.get("type", "message")
        if kind == "reasoning":
            if previous != "reasoning":
                messages.append({"type": "ai", "content": ""})
            messages[-1].setdefault("opaque", []).extend(opaque_parts(item))
            previous = "reasoning"
        elif kind == "function_call":
            if previous not in ("assistant", "reasoning"):
                messages.append({"type": "ai", "content": ""})
            messages[-1].setdefault("tool_calls", []).append(call(item["call_id"], item["name"], item["arguments"]))
            if signature := (item.get("provider_data") or {}).get("thought_signature"):
                messages[-1].setdefault("opaque", []).append({"kind": "signature", "call": item["call_id"], "data": signature})
            previous = "assistant"
        elif kind == "function_call_output":
            messages.append({"type": "tool", **contents(item["output"]), "tool_call_id": item["call_id"]})
            previous = "tool"
        elif previous == "reasoning" and item["role"] == "assistant":
            messages[-1] |= contents(item["content"])
            previous = "assistant"
        else:
            previous = item["role"]
            role = {"user": "human", "assistant": "ai"}.get(previous, previous)
            messages.append({"type": role, **contents(item["content"])})
    return messages


def opaque_parts(item):
    """What a model thought: of OpenAI itself, or of other providers as the SDK keeps it."""
    blocks = (item.get("provider_data") or {}).get("thinking_blocks") or []
    parts = [
        {"kind": "redacted", "data": block["data"]} if block["type"] == "redacted_thinking" else {"kind": "thinking", "text": block["thinking"], "signature": block["signature"]}
        for block in blocks
    ]
    return parts or [{"kind": "reasoning", "id": item.get("id"), "encrypted": item.get("encrypted_content")}]


def contents(content):
    """Text, and images by what they are."""
    parts = [{"text": content}] if isinstance(content, str) else content
    images = [fingerprint(part["image_url"]) for part in parts if part.get("type") == "input_image"]
    text = "".join(part.get("text", to_json(part)) for part in parts if part.get("type") != "input_image")
    return {"content": text, **({"images": images} if images else {})}


def fingerprint(url):
    return hashlib.sha256(base64.b64decode(url.split(",", 1)[1])).hexdigest()
