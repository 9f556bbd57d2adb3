"""A program of the pictures: it asks a model for a call, and goes on without the result."""

import json
import os
import urllib.error
import urllib.request

messages = [{"role": "user", "content": "What is in this folder?"}]
tools = [{"type": "function", "function": {"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}]


def ask():
    headers = {"content-type": "application/json", "authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    body = json.dumps({"model": "gpt-4.1", "messages": messages, "tools": tools}).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{os.environ['OPENAI_BASE_URL']}/chat/completions", body, headers)) as answer:
        messages.append(json.load(answer)["choices"][0]["message"])


ask()
messages.append({"role": "user", "content": "And in the one above?"})
try:
    ask()
except urllib.error.HTTPError as error:
    print(json.load(error)["error"]["message"])
