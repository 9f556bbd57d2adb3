# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==3.57.0", "anthropic==2.14.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""What passes between the SDKs of OpenAI and Anthropic and the model, recorded: requests, answers, streams, message lists and batches."""

import json
import os

import anthropic
import openai
import recorder
import story
from out import source, write

LOOPS = {"openai-chat": story.chat, "openai-responses": story.responses, "anthropic": story.anthropic}
BASES = {"openai-chat": "OPENAI_BASE_URL", "openai-responses": "OPENAI_BASE_URL", "anthropic": "ANTHROPIC_BASE_URL"}
PATHS = {"openai-chat": "/v1/chat/completions", "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}


def client(api, url):
    return anthropic.Anthropic(base_url=url) if api == "anthropic" else openai.OpenAI(base_url=url + "/v1")


def batch_input(api, exchanges):
    if api == "anthropic":
        return {"requests": [{"custom_id": f"weather-{number}", "params": exchange.json} for number, exchange in enumerate(exchanges, 1)]}
    return [{"custom_id": f"weather-{number}", "method": "POST", "url": PATHS[api], "body": exchange.json} for number, exchange in enumerate(exchanges, 1)]


def batch_output(api, exchanges):
    if api == "anthropic":
        return [{"custom_id": f"weather-{number}", "result": {"type": "succeeded", "message": json.loads(exchange.answer)}} for number, exchange in enumerate(exchanges, 1)]
    return [
        {"id": f"batch_req_{number}", "custom_id": f"weather-{number}", "response": {"status_code": 200, "request_id": f"req_{number}", "body": json.loads(exchange.answer)}, "error": None}
        for number, exchange in enumerate(exchanges, 1)
    ]


for api, loop in LOOPS.items():
    upstream = os.environ[BASES[api]].removesuffix("/v1")
    packages = ["anthropic" if api == "anthropic" else "openai"]
    with recorder.recorder(recorder.pass_on(upstream)) as (url, exchanges):
        lists = list(loop(client(api, url)))
    plain = list(exchanges)
    with recorder.recorder(recorder.pass_on(upstream)) as (url, exchanges):
        list(loop(client(api, url), stream=True))
    streamed = list(exchanges)

    form = f"requests-{api}"
    write(form, "clean.jsonl", [{"request": exchange.json, "response": json.loads(exchange.answer)} for exchange in plain])
    source(form, "Request and answer of every exchange, a line for each, as proxies log them.", *packages, script="make-recorded.py")
    form = f"sse-{api}"
    write(form, "clean.jsonl", [{"request": exchange.json, "response": exchange.answer.decode()} for exchange in streamed])
    source(form, "Request and recorded stream (server-sent events as one text) of every exchange, a line for each.", *packages, script="make-recorded.py")
    form = f"messages-{api}"
    write(form, "clean.json", lists[0])
    write(form, "clean-picture.json", lists[1])
    source(form, "The bare message list of each conversation when it is over, as agents save it.", *packages, script="make-recorded.py")
    form = f"batch-{api}"
    write(form, "clean.json" if api == "anthropic" else "clean.jsonl", batch_input(api, plain))
    write(form, "clean-output.jsonl", batch_output(api, plain))
    source(
        form,
        "The requests of the recorded exchange as a batch file, and their answers as the results file. The form is that of the API's documentation; the bodies are what the SDK sent and got.",
        *packages,
        script="make-recorded.py",
    )
