# /// script
# requires-python = ">=3.11"
# dependencies = []
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""Vercel's AI SDK: its spans (`experimental_telemetry`) sent to a recorder by OpenTelemetry's exporter of OTLP JSON, and its UI messages."""

import json
import os
import subprocess
from pathlib import Path

import recorder
import story
from out import source, write

HERE = Path(__file__).parent
PACKAGES = json.loads((HERE / "package.json").read_text())["dependencies"]
told = {
    "system": story.SYSTEM,
    "model": story.CHAT_MODEL,
    "description": story.DESCRIPTION,
    "parameters": story.PARAMETERS,
    "openings": [{"texts": texts, "image": image} for texts, image in story.openings()],
}
with recorder.recorder() as (url, exchanges):
    environment = os.environ | {"RECORDER": url, "STORY": json.dumps(told), "OTEL_SERVICE_NAME": "weather-agent"}
    printed = subprocess.run(["node", HERE / "ai-sdk.mjs"], env=environment, check=True, capture_output=True, text=True).stdout
requests = [exchange.json for exchange in exchanges]
packages = (HERE / "node_modules").resolve()
write("ai-sdk-spans", "clean.jsonl", json.loads(json.dumps(requests).replace(str(packages), "/home/user/project/node_modules")))
versions = {name: PACKAGES[name] for name in ("ai", "@ai-sdk/openai", "@opentelemetry/exporter-trace-otlp-http")}
source("ai-sdk-spans", "Spans of Vercel's AI SDK (`ai.streamText.doStream`, …) as OpenTelemetry's exporter sends them: OTLP JSON, a line for each request.", script="make-ai-sdk.py", versions=versions)
conversations = json.loads(printed)
write("ai-sdk-ui", "clean.json", conversations[0])
write("ai-sdk-ui", "clean-picture.json", conversations[1])
source("ai-sdk-ui", "The UI messages of each conversation, which the AI SDK's documentation says to store.", script="make-ai-sdk.py", versions={"ai": PACKAGES["ai"]})
