# /// script
# requires-python = ">=3.11"
# dependencies = ["langfuse==3.14.6", "openai==2.26.0", "httpx==0.28.1"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Langfuse's SDK 3 sending to a recorder, and the two traces as `GET /api/public/traces/{id}` gives them: `TraceWithFullDetails`, the public schema.
Only Langfuse's server makes this."""

import datetime
import json
import os

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
    from langfuse.api.resources.commons.types import ObservationsView, TraceWithFullDetails, Usage
    from langfuse.openai import openai as traced

    langfuse = Langfuse(flush_at=1000, flush_interval=600)
    conversations = story.chat(traced.OpenAI())
    for _ in story.openings():
        with langfuse.start_as_current_observation(name="conversation", as_type="agent") as root:
            root.update_trace(name="weather", session_id="session")
            next(conversations)
    langfuse.flush()


def moment(nanoseconds):
    return datetime.datetime.fromtimestamp(int(nanoseconds) / 1e9, datetime.UTC)


traces = {}
for exchange in exchanges:
    if exchange.path.endswith("/otel/v1/traces"):
        for span, attributes in spans_recorded.spans_of(spans_recorded.otlp_json(exchange.body)):
            traces.setdefault(span["traceId"], []).append(
                ObservationsView(
                    id=span["spanId"],
                    traceId=span["traceId"],
                    parentObservationId=span.get("parentSpanId"),
                    type=attributes["langfuse.observation.type"].upper(),
                    name=span["name"],
                    startTime=moment(span["startTimeUnixNano"]),
                    endTime=moment(span["endTimeUnixNano"]),
                    model=attributes.get("langfuse.observation.model.name"),
                    modelParameters=spans_recorded.parsed(attributes.get("langfuse.observation.model.parameters")),
                    input=spans_recorded.parsed(attributes.get("langfuse.observation.input")),
                    output=spans_recorded.parsed(attributes.get("langfuse.observation.output")),
                    metadata={},
                    usage=Usage(input=0, output=0, total=0, unit="TOKENS"),
                    usageDetails={name: count for name, count in (spans_recorded.parsed(attributes.get("langfuse.observation.usage_details")) or {}).items() if isinstance(count, int)},
                    costDetails={},
                    level="DEFAULT",
                    environment="default",
                )
            )
for (trace_id, observations), name in zip(traces.items(), ("clean.json", "clean-picture.json")):
    trace = TraceWithFullDetails(
        id=trace_id,
        timestamp=min(observation.start_time for observation in observations),
        name="weather",
        sessionId="session",
        input=None,
        output=None,
        metadata={},
        tags=[],
        public=False,
        environment="default",
        htmlPath=f"/project/project/traces/{trace_id}",
        observations=sorted(observations, key=lambda observation: observation.start_time),
        scores=[],
    )
    write("langfuse-trace", name, json.loads(trace.json()))
source("langfuse-trace", __doc__, "langfuse", "openai")
