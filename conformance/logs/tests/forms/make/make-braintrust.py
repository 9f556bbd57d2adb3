# /// script
# requires-python = ">=3.11"
# dependencies = ["braintrust==0.48.1", "openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Rows of Braintrust's logs: what its SDK (`wrap_openai`) sends to a recorder, merged by their ids as the server does, a line for each span."""

import json
import os

import story
from openai import OpenAI
from out import source, write
from recorder import recorder


def answer(exchange):
    if exchange.path.endswith("/api/apikey/login"):
        exchange.answer = json.dumps({"org_info": [{"id": "org", "name": "org", "api_url": base, "proxy_url": base, "git_metadata": {"collect": "none"}}]}).encode()
    elif exchange.path.endswith("/attachment"):
        exchange.answer = json.dumps({"signedUrl": base + "/upload", "headers": {}}).encode()
    elif "project" in exchange.path:
        exchange.answer = json.dumps({"id": "project", "name": "weather"}).encode()


with recorder(answer) as (base, exchanges):
    os.environ |= {"BRAINTRUST_API_KEY": "key", "BRAINTRUST_APP_URL": base, "BRAINTRUST_API_URL": base, "BRAINTRUST_SYNC_FLUSH": "1"}
    import braintrust

    logger = braintrust.init_logger(project="weather", api_key="key", app_url=base)
    client = braintrust.wrap_openai(OpenAI())
    for _ in story.chat(client):
        pass
    braintrust.flush()
    rows = {}
    for exchange in exchanges:
        if exchange.path.endswith("/logs3"):
            for row in exchange.json["rows"]:
                known = rows.setdefault(row["id"], {})
                for name, value in row.items():
                    known[name] = known[name] | value if isinstance(value, dict) and isinstance(known.get(name), dict) else value
    if not rows:
        raise SystemExit([(exchange.method, exchange.path) for exchange in exchanges])
write("braintrust", "clean.jsonl", [{name: value for name, value in row.items() if name != "context"} for row in rows.values()])
source("braintrust", __doc__, "braintrust", "openai")
