# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==1.109.1", "opentelemetry-instrumentation-openai==0.40.14", "opentelemetry-exporter-otlp-json-file==0.66b1", "setuptools==80.9.0"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Spans of OTLP by OpenLLMetry's instrumentation of the OpenAI SDK as it was until 2025, with an attribute for each part (`gen_ai.prompt.0.role`, …)."""

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
tracing = spans.provider("openllmetry-indexed", SimpleSpanProcessor(FileSpanExporter(stream=lines)))
OpenAIInstrumentor(upload_base64_image=None).instrument(tracer_provider=tracing)
spans.in_traces(trace.get_tracer("weather-agent"), story.chat(openai.OpenAI()))
write("openllmetry-indexed", "clean.jsonl", lines.getvalue())
source("openllmetry-indexed", __doc__, "opentelemetry-instrumentation-openai", "opentelemetry-exporter-otlp-json-file", "openai")
