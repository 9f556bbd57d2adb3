"""python3 adapter.py CHECKOUT: the XML agent of Orchestra, from a checkout of its repository, behind the profile `literal`.

Its serializer takes LangChain messages, not events; an event that no message can carry (an error, a summary, …) is refused. The format has no
iterations and takes ids from messages, so few documents can be equal. Rounds and loop need the whole application. The adapter needs langchain-core:
`pip install -r conformance/adapters/python/requirements.txt`, then `threadspec verify --op serialize -- python3 …/adapter.py CHECKOUT`.
"""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from protocol import Reject, serve

CHECKOUT = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("ORCHESTRA")
if not CHECKOUT:
    sys.exit("usage: python3 adapter.py CHECKOUT, a checkout of Orchestra")
SOURCE = Path(CHECKOUT) / "backend/src/flows/xml_agent.py"
if not SOURCE.exists():
    sys.exit(f"{SOURCE} is not there: {CHECKOUT} is no checkout of Orchestra")
try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
except ModuleNotFoundError:
    sys.exit("langchain-core is not installed: pip install -r conformance/adapters/python/requirements.txt")


def input_parser():
    """The function alone: its module needs the whole application."""
    module = ast.parse(SOURCE.read_text(encoding="utf-8"))
    found = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == "input_parser"]
    names = {"json": json, "BaseMessage": BaseMessage, "HumanMessage": HumanMessage, "ToolMessage": ToolMessage, "AIMessage": AIMessage}
    exec(compile(ast.Module(found, []), str(SOURCE), "exec"), names)
    return names["input_parser"]


def serialize(input, profile):
    try:
        return written(input["events"], input.get("responsePrefix"))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # The code has no checks of its own: whatever it throws on a wrong input counts as a refusal.
        raise Reject(f"{type(error).__name__}: {error}") from error


def written(events, prefix):
    names = {}
    messages = []
    for position, event in enumerate(events):
        kind = event.get("type")
        if kind == "tool_call":
            names[event["toolCallId"]] = event["toolName"]
            call = {"id": event["toolCallId"], "name": event["toolName"], "args": event["args"]}
            messages.append(AIMessage(id=str(position), content="", tool_calls=[call]))
        elif kind == "tool_result":
            answered, result = event["toolCallId"], event.get("result")
            content = result if isinstance(result, str) else json.dumps(result)
            messages.append(ToolMessage(content, tool_call_id=answered, name=names.get(answered, "unknown"), status="success"))
        elif kind == "message" and event.get("role") in ("user", "assistant"):
            messages.append((HumanMessage if event["role"] == "user" else AIMessage)(event["content"], id=str(position)))
        else:
            raise Reject(f"no message carries an event of type {kind!r}", "invalid-event")
    return INPUT_PARSER(messages, "\n" + prefix if prefix else "")


def commit():
    done = subprocess.run(["git", "-C", str(CHECKOUT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


INPUT_PARSER = input_parser()
URL = "https://github.com/ruska-ai/orchestra"
serve({"serialize": serialize}, {"name": "Orchestra's XML agent", "version": commit(), "language": "Python", "url": URL})
