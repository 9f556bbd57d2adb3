# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==3.57.0", "openinference-instrumentation-openai==0.1.66", "opentelemetry-exporter-otlp-json-file==0.66b1"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Spans of OTLP with OpenInference's attributes (`llm.input_messages.0.message.role`, …), as Arize Phoenix takes them; all in one batch, and so in one line."""

import io

import openai
import spans
import story
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry import trace
from opentelemetry.exporter.otlp.json.file import FileSpanExporter
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from out import source, write

lines = io.StringIO()
tracing = spans.provider("openinference", BatchSpanProcessor(FileSpanExporter(stream=lines), schedule_delay_millis=600_000))
OpenAIInstrumentor().instrument(tracer_provider=tracing)
spans.in_traces(trace.get_tracer("weather-agent"), story.chat(openai.OpenAI()))
tracing.force_flush()
write("openinference", "clean.json", lines.getvalue())
source("openinference", __doc__, "openinference-instrumentation-openai", "opentelemetry-exporter-otlp-json-file", "openai")
