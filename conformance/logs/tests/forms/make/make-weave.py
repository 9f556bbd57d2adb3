# /// script
# requires-python = ">=3.11"
# dependencies = ["weave==0.54.0", "openai==2.26.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""W&B Weave's SDK sending to a recorder: the calls of `POST /v2/…/calls/complete`, a line for each, as `calls/stream_query` gives them back."""

import json
import os

import recorder
import story
from out import source, write

SERVER = {"min_required_weave_python_version": "0.0.1"}


def answer(exchange):
    if exchange.path.endswith("/server_info"):
        exchange.answer = json.dumps(SERVER).encode()
    elif exchange.path.endswith(("/obj/create", "/file/create")):
        exchange.answer = b'{"digest": "digest"}'
    elif exchange.path.endswith("/graphql"):
        exchange.answer = json.dumps({"data": {"viewer": {"id": "user", "username": "user", "entity": "user", "defaultEntity": {"name": "user"}}, "project": {"id": "project", "name": "weather"}, "upsertModel": {"model": {"name": "weather"}}}}).encode()


with recorder.recorder(answer) as (url, exchanges):
    os.environ |= {"WANDB_API_KEY": "0" * 40, "WANDB_BASE_URL": url, "WF_TRACE_SERVER_URL": url, "WEAVE_PRINT_CALL_LINK": "false"}
    import openai
    import weave

    client = weave.init("user/weather")
    conversations = story.chat(openai.OpenAI())
    step = weave.op(name="conversation")(lambda: len(next(conversations)))
    for _ in story.openings():
        step()
    client.finish()

calls = {}
for exchange in exchanges:
    if exchange.path.endswith("/calls/complete"):
        for call in exchange.json["batch"]:
            calls[call["id"]] = call
for call in calls.values():
    call.get("attributes", {}).pop("weave", None)
write("weave", "clean.jsonl", list(calls.values()))
source("weave", __doc__, "weave", "openai")
