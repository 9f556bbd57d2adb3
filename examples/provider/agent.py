"""An agent under test over HTTP: threadspec verify --provider openai-chat -- python3 agent.py

`run` stands for your agent; the rest is all that threadspec needs. It is as simple as agents usually begin, and the corpus says what it lacks.
"""

import json
import sys
import urllib.error
import urllib.request


def run(messages, tools, base_url, api_key, model):
    """The agent: it asks its model, and calls tools, until the model calls none."""
    declared = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in tools]
    while True:
        body = {"model": model, "messages": messages, **({"tools": declared} if declared else {})}
        request = urllib.request.Request(
            f"{base_url}/chat/completions", json.dumps(body).encode(),
            {"authorization": f"Bearer {api_key}", "content-type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request) as answer:
                message = json.load(answer)["choices"][0]["message"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error
        calls = message.get("tool_calls") or []
        messages.append({"role": "assistant", "content": message["content"], **({"tool_calls": calls} if calls else {})})
        if not calls:
            return
        for call in calls:
            name = call["function"]["name"]
            result = tools[name](call) if name in tools else f"Error: there is no tool {name}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def tool(results):
    """A tool that gives what the case says: by the id of the call, by its arguments, or one after the other."""
    left = list(results) if isinstance(results, list) else []

    def give(call):
        if left:
            result = left.pop(0) if len(left) > 1 else left[0]
        elif isinstance(results, dict) and "byId" in results:
            result = results["byId"].get(call["id"], "")
        else:
            args = json.loads(call["function"]["arguments"] or "{}")
            result = next((result for given, result in results.get("byArgs", []) if given == args), "") if results else ""
        if isinstance(result, dict) and list(result) == ["error"] and isinstance(result["error"], str):
            return f"Error: {result['error']}"
        return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))

    return give


def message(given):
    """A message of the case in the form of the API."""
    role = {"human": "user", "ai": "assistant"}.get(given["type"], given["type"])
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": json.dumps(call["args"])}}
        for call in given.get("tool_calls") or []
    ]
    extra = {"tool_calls": calls} if calls else {}
    return {"role": role, "content": given["content"], **extra, **({"tool_call_id": given["tool_call_id"]} if role == "tool" else {})}


def reply(request):
    if request["op"] == "hello":
        agent = {"name": "my-agent", "version": "1", "language": "Python"}
        return {"ok": {"protocol": 1, "implementation": agent, "ops": ["tools"], "profiles": ["universal"], "apis": ["openai-chat"]}}
    if request["op"] != "tools" or request["input"].get("maxRecursionDepth") is not None:
        return {"unsupported": "a limit of rounds"}
    at, given = request["endpoint"], request["input"]
    tools = {name: tool(results) for name, results in (given.get("tools") or {}).items()}
    try:
        run([message(one) for one in given["messages"]], tools, at["baseUrl"], at["apiKey"], at["model"])
    except Exception as error:
        return {"ok": {"failure": str(error)}}
    return {"ok": {}}


for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], **reply(request)}), flush=True)
