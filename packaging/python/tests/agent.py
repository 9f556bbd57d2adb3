"""An agent with one tool, over Python's own HTTP client."""

import http.client
import json
from urllib.parse import urlsplit


def run(provider, trim=lambda messages: messages):
    """Runs a loop at a ``threadspec.Provider``, and returns what the model said last. ``trim`` makes the list that is sent."""
    messages = [{"role": "user", "content": "Go"}]
    while True:
        message = ask(provider, trim(messages))
        messages.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        for call in message["tool_calls"]:
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": "3"})


def ask(provider, messages):
    url = urlsplit(provider.openai_url)
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    body = json.dumps({"model": "gpt-4.1", "messages": messages, "tools": tools})
    connection = http.client.HTTPConnection(url.netloc)
    try:
        headers = {"authorization": f"Bearer {provider.key}", "content-type": "application/json"}
        connection.request("POST", f"{url.path}/chat/completions", body, headers)
        answer = connection.getresponse()
        said = json.load(answer)
    finally:
        connection.close()
    if answer.status != 200:
        raise RuntimeError(said["error"]["message"])
    return said["choices"][0]["message"]
