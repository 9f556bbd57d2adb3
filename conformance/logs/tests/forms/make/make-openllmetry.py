# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==3.57.0", "opentelemetry-instrumentation-openai==0.62.4", "opentelemetry-exporter-otlp-json-file==0.66b1"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Spans of OTLP by OpenLLMetry's instrumentation of the OpenAI SDK (Traceloop), a line for each."""

import io

import openai
import spans
import story
from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from out import source, write

lines = io.StringIO()
tracing = spans.provider("openllmetry", SimpleSpanProcessor(FileSpanExporter(stream=lines)))
OpenAIInstrumentor().instrument(tracer_provider=tracing)
spans.in_traces(trace.get_tracer("weather-agent"), story.chat(openai.OpenAI()))
write("openllmetry", "clean.jsonl", lines.getvalue())
source("openllmetry", __doc__, "opentelemetry-instrumentation-openai", "opentelemetry-exporter-otlp-json-file", "openai")
