"""OpenTelemetry for the scripts that trace: numbered ids, and a trace for each conversation."""

import itertools
import zlib

import story
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.id_generator import IdGenerator


class Numbered(IdGenerator):
    """Ids that count, and differ from those of other forms."""

    def __init__(self, form):
        self.form, self.numbers = zlib.crc32(form.encode()), itertools.count(1)

    def generate_trace_id(self):
        return self.form << 96 | next(self.numbers)

    def generate_span_id(self):
        return self.form << 32 | next(self.numbers)


RESOURCE = Resource({"service.name": "weather-agent"})


def provider(form, processor):
    tracing = TracerProvider(resource=RESOURCE, id_generator=Numbered(form))
    tracing.add_span_processor(processor)
    trace.set_tracer_provider(tracing)
    return tracing


def in_traces(tracer, conversations):
    """Has each conversation in a trace of its own, and closes it."""
    for _ in story.openings():
        with tracer.start_as_current_span("conversation"):
            next(conversations)
