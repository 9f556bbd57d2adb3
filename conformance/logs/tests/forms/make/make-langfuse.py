# /// script
# requires-python = ">=3.11"
# dependencies = ["langfuse==5.0.4", "openai==3.57.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Langfuse's SDK sending to a recorder, and the observations as the server gives them back."""

import datetime
import json
import os

import openai
import recorder
import spans_recorded
import story
from out import source, write


def answer(exchange):
    if exchange.path.endswith("/media"):
        exchange.answer = b'{"mediaId": "media", "uploadUrl": null}'


with recorder.recorder(answer) as (url, exchanges):
    os.environ |= {"LANGFUSE_BASE_URL": url, "LANGFUSE_HOST": url, "LANGFUSE_PUBLIC_KEY": "pk-lf-0", "LANGFUSE_SECRET_KEY": "sk-lf-0"}
    from langfuse import Langfuse
    from langfuse.api.commons.types.observation_v2 import ObservationV2
    from langfuse.openai import openai as traced

    langfuse = Langfuse(flush_at=1000, flush_interval=600)
    conversations = story.chat(traced.OpenAI())
    for _ in story.openings():
        with langfuse.start_as_current_observation(name="conversation", as_type="agent"):
            next(conversations)
    langfuse.flush()

bodies = [exchange.body for exchange in exchanges if exchange.path.endswith("/otel/v1/traces")]
requests = [spans_recorded.otlp_json(body) for body in bodies]
write("langfuse-otlp", "clean.jsonl", requests)
source("langfuse-otlp", "What Langfuse's SDK sends: OTLP, with `langfuse.observation.input` and `.output` as JSON inside strings. Sent as protobuf, written as OTLP JSON.", "langfuse", "openai", script="make-langfuse.py")


def moment(nanoseconds):
    return datetime.datetime.fromtimestamp(int(nanoseconds) / 1e9, datetime.UTC)


observations = []
for request in requests:
    for span, attributes in spans_recorded.spans_of(request):
        observation = ObservationV2(
            id=span["spanId"],
            trace_id=span["traceId"],
            parent_observation_id=span.get("parentSpanId"),
            project_id="project",
            type=attributes["langfuse.observation.type"].upper(),
            name=span["name"],
            start_time=moment(span["startTimeUnixNano"]),
            end_time=moment(span["endTimeUnixNano"]),
            level="DEFAULT",
            environment="default",
            model=attributes.get("langfuse.observation.model.name"),
            input=spans_recorded.parsed(attributes.get("langfuse.observation.input")),
            output=spans_recorded.parsed(attributes.get("langfuse.observation.output")),
        )
        observations.append(json.loads(observation.json(by_alias=True)))
write("langfuse-observations", "clean.jsonl", observations)
write("langfuse-observations", "clean-page.json", {"data": observations, "meta": {"cursor": None}})
source(
    "langfuse-observations",
    "What the recorder got, in the public schema of an observation (`ObservationV2` of the SDK): a line for each, as the export to blob storage writes, and a page of the API. Only Langfuse's server makes these.",
    "langfuse",
    "openai",
    script="make-langfuse.py",
)
