# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Helicone: only its server makes an export, so that this is built from its public schema: rows of `POST /v1/request/query-clickhouse` with
`request_body` and `response_body`, as the export of requests writes them (JSON Lines). The bodies are those of a recorded exchange."""

import datetime
import json
import os

import openai
import recorder
import story
from out import source, write

with recorder.recorder(recorder.pass_on(os.environ["OPENAI_BASE_URL"].removesuffix("/v1"))) as (url, exchanges):
    list(story.chat(openai.OpenAI(base_url=url + "/v1")))
rows = []
for number, exchange in enumerate(exchanges, 1):
    answer, began = json.loads(exchange.answer), datetime.datetime.fromtimestamp(exchange.began, datetime.UTC)
    rows.append(
        {
            "request_id": f"00000000-0000-4000-8000-{number:012}",
            "request_created_at": began.isoformat(),
            "request_path": "https://api.openai.com/v1/chat/completions",
            "request_user_id": None,
            "request_properties": {"Helicone-Session-Id": f"session-{(number + 2) // 3}", "Helicone-Session-Path": "/weather"},
            "request_model": answer["model"],
            "request_body": exchange.json,
            "response_id": f"00000000-0000-4000-8001-{number:012}",
            "response_created_at": (began + datetime.timedelta(seconds=exchange.seconds)).isoformat(),
            "response_status": 200,
            "response_model": answer["model"],
            "response_body": answer,
            "provider": "OPENAI",
            "prompt_tokens": answer["usage"]["prompt_tokens"],
            "completion_tokens": answer["usage"]["completion_tokens"],
            "delay_ms": round(exchange.seconds * 1000),
        }
    )
write("helicone", "clean.jsonl", rows)
source("helicone", __doc__, "openai")
