"""OTLP over HTTP that came into a recorder, as the JSON form of OTLP (ids in hexadecimal, not the base64 of protobuf's JSON)."""

import base64
import json

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


def otlp_json(body: bytes) -> dict:
    """The JSON form of a protobuf export request."""
    value = MessageToDict(ExportTraceServiceRequest.FromString(body), use_integers_for_enums=True)
    for resource in value["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for name in ("traceId", "spanId", "parentSpanId"):
                    if name in span:
                        span[name] = base64.b64decode(span[name]).hex()
    return value


def spans_of(request: dict):
    """Each span with its attributes as a dictionary of plain values."""
    for resource in request["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                yield span, {item["key"]: next(iter(item["value"].values()), None) for item in span.get("attributes", [])}


def parsed(text):
    """The JSON value of a text, or the text."""
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
