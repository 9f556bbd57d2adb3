# /// script
# requires-python = ">=3.11"
# dependencies = ["langsmith==0.15.1", "openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""LangSmith's SDK sending to a recorder: the batches as they were sent, and the runs as `Client.list_runs` gives them back."""

import json
import os

import openai
import recorder
import story
from out import source, write

INFO = json.dumps({"batch_ingest_config": {"use_multipart_endpoint": False, "size_limit": 100, "size_limit_bytes": 20_000_000, "scale_up_qsize_trigger": 1000, "scale_up_nthreads_limit": 1, "scale_down_nempty_trigger": 4}})


def answer(exchange):
    if exchange.path == "/info":
        exchange.answer = INFO.encode()


with recorder.recorder(answer) as (url, exchanges):
    os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_ENDPOINT": url, "LANGSMITH_API_KEY": "lsv2_0", "LANGSMITH_PROJECT": "weather"}
    import langsmith
    from langsmith.run_trees import get_cached_client
    from langsmith.schemas import Run
    from langsmith.wrappers import wrap_openai

    conversations = story.chat(wrap_openai(openai.OpenAI()))
    for _ in story.openings():
        with langsmith.trace("conversation", run_type="chain"):
            next(conversations)
    get_cached_client().flush()

batches = [exchange.json for exchange in exchanges if exchange.path == "/runs/batch"]
runs = {}
for batch in batches:
    for run in batch.get("post", []) + batch.get("patch", []):
        # What the SDK says of the machine and of its own environment.
        run.get("extra", {}).pop("runtime", None)
        for name in ("LANGSMITH_ENDPOINT", "revision_id"):
            run.get("extra", {}).get("metadata", {}).pop(name, None)
        runs.setdefault(run["id"], {}).update({name: value for name, value in run.items() if value is not None})
write("langsmith-batch", "clean.jsonl", batches)
source("langsmith-batch", "What LangSmith's SDK sends: the bodies of `POST /runs/batch`, one a line, with runs that begin (`post`) and end (`patch`).", "langsmith", "openai", script="make-langsmith.py")
listed = [json.loads(Run(**{"inputs": {}, "session_id": None, "child_run_ids": None, **run}).model_dump_json()) for run in runs.values()]
write("langsmith-runs", "clean.jsonl", listed)
source(
    "langsmith-runs",
    "The runs that the recorder got, post and patch put together, in the schema in which `Client.list_runs` gives them back (`langsmith.schemas.Run`), a line for each. The server makes these; built from the SDK's schema.",
    "langsmith",
    "openai",
    script="make-langsmith.py",
)
