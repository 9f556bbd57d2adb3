# /// script
# requires-python = ">=3.11"
# dependencies = ["openai==2.26.0", "opentelemetry-instrumentation-openai-v2==2.4b0", "opentelemetry-util-genai==0.4b0", "opentelemetry-exporter-otlp-json-file==0.66b1"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""The three ways in which opentelemetry-instrumentation-openai-v2 tells messages, written by the OTLP JSON file exporter. Each way has a process of its own."""

import io
import os
import subprocess
import sys

WAYS = {
    "otel-genai-spans": {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "span_only"},
    "otel-genai-events": {"OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental", "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "event_only"},
    "otel-genai-messages": {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"},
}
WHAT = {
    "otel-genai-spans": "Spans of OTLP with the messages in the attributes `gen_ai.input.messages` and `gen_ai.output.messages` (JSON inside a string).",
    "otel-genai-events": "Log records of OTLP, `gen_ai.client.inference.operation.details`, with the messages as structured attributes.",
    "otel-genai-messages": "Log records of OTLP, one a message (`gen_ai.user.message`, `gen_ai.choice`, …), the conventions up to 1.30, which are still the default.",
}


def main(form):
    import openai
    import spans
    import story
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.json.file import FileSpanExporter
    from opentelemetry.exporter.otlp.json.file._log_exporter import FileLogExporter
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from out import source, write

    span_lines, log_lines = io.StringIO(), io.StringIO()
    spans.provider(form, SimpleSpanProcessor(FileSpanExporter(stream=span_lines)))
    logging = LoggerProvider(resource=spans.RESOURCE)
    logging.add_log_record_processor(BatchLogRecordProcessor(FileLogExporter(stream=log_lines), schedule_delay_millis=600_000))
    OpenAIInstrumentor().instrument(logger_provider=logging)
    spans.in_traces(trace.get_tracer("weather-agent"), story.chat(openai.OpenAI()))
    logging.force_flush()
    write(form, "clean.jsonl", (span_lines if form == "otel-genai-spans" else log_lines).getvalue())
    source(form, WHAT[form], "opentelemetry-instrumentation-openai-v2", "opentelemetry-exporter-otlp-json-file", "opentelemetry-sdk", "openai", script="make-otel-genai.py")


if len(sys.argv) > 1:
    main(sys.argv[1])
else:
    for way, environment in WAYS.items():
        subprocess.run([sys.executable, __file__, way], env=os.environ | environment, check=True)
