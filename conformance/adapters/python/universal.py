"""Op `tools` in profile `universal`, for a loop that executes calls one after the other."""

from langchain_messages import plain
from loop import tool_rounds
from protocol import Reject


def run_universal(script):
    """A run of tool rounds, whose scripted results are found by the id or the arguments of a call."""
    _require_paired(script.get("messages") or [])
    model, messages = tool_rounds({**script, "tools": _in_call_order(script)}, "hardened")
    return {
        "requests": model.requests,
        "messages": plain(messages),
        "given": script["messages"],
        "requestsAtEnd": [plain(request) for request in model.handed],
    }


def _in_call_order(script):
    """The results of each tool as a list, in the order in which the script's calls come."""
    scripts = script.get("tools") or {}
    lists = {name: [] for name in scripts}
    for turn in script.get("model") or []:
        for call in turn.get("tool_calls") or []:
            if call["name"] in lists:
                lists[call["name"]].append(_result(scripts[call["name"]], call))
    return lists


def _result(results, call):
    if isinstance(results, list):
        return results[0] if results else ""
    if "byId" in results:
        return results["byId"].get(call["id"], "")
    return next((result for args, result in results["byArgs"] if _same(args, call.get("args") or {})), "")


def _same(one, other):
    """Equal as JSON values; in Python `True == 1`."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _require_paired(messages):
    """Refuses a list in which a call has no answer directly behind it, an answer no call, or a message one id for two calls."""
    waiting = []
    for message in [*messages, {"type": "human"}]:
        if message.get("type") == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Reject(f"messages: the answer to {message.get('tool_call_id')!r} has no call")
            waiting.remove(message["tool_call_id"])
        elif message.get("type") != "system":
            if waiting:
                raise Reject(f"messages: the call {waiting[0]!r} has no answer")
            waiting = [call.get("id") for call in message.get("tool_calls") or []]
            if len(set(waiting)) < len(waiting):
                raise Reject("messages: two calls of one message have the same id")
