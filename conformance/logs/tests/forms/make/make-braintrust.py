# /// script
# requires-python = ">=3.11"
# dependencies = ["braintrust==0.48.1", "openai==2.26.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Braintrust's SDK sending to a recorder: the rows of `POST /logs3` put together by id, as the export of a project's logs has them (JSON Lines)."""

import json
import os

import openai
import recorder
import story
from out import source, write


def answer(exchange):
    if exchange.path == "/api/apikey/login":
        exchange.answer = json.dumps({"org_info": [{"id": "org", "name": "org", "api_url": URL, "proxy_url": URL, "git_metadata": None}]}).encode()
    elif exchange.path == "/api/project/register":
        exchange.answer = json.dumps({"project": {"id": "project", "name": "weather", "org_id": "org"}}).encode()
    elif exchange.path.startswith("/version"):
        exchange.answer = b"{}"


with recorder.recorder(answer) as (url, exchanges):
    URL = url
    os.environ |= {"BRAINTRUST_API_KEY": "key", "BRAINTRUST_APP_URL": url, "BRAINTRUST_API_URL": url}
    import braintrust

    logger = braintrust.init_logger(project="weather")
    conversations = story.chat(braintrust.wrap_openai(openai.OpenAI()))
    for _ in story.openings():
        with logger.start_span(name="conversation", type="task"):
            next(conversations)
    logger.flush()

rows = {}
for exchange in exchanges:
    if exchange.path == "/logs3":
        for row in exchange.json["rows"]:
            merged = rows.setdefault(row["id"], {})
            for name, value in row.items():
                if isinstance(value, dict) and isinstance(merged.get(name), dict):
                    merged[name] = merged[name] | value
                elif name != "_is_merge":
                    merged[name] = value
for row in rows.values():
    row.pop("context", None)
write("braintrust", "clean.jsonl", list(rows.values()))
source("braintrust", __doc__, "braintrust", "openai")
