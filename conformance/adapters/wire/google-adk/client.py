"""Google ADK's `Runner.run_async` through its LiteLLM door, over the wire."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}

from google.adk.agents.run_config import StreamingMode
from google.adk.models.lite_llm import LiteLlm
from wire import adapter_of, serve_over_wire

adk = adapter_of("google-adk")


def model(endpoint):
    provider = "anthropic" if endpoint.api == "anthropic" else "openai"
    return LiteLlm(model=f"{provider}/{endpoint.model}", api_base=endpoint.base_url, api_key=endpoint.api_key)


async def run(run):
    mode = StreamingMode.SSE if run.endpoint.stream else StreamingMode.NONE
    await adk.run(run, model(run.endpoint), streaming_mode=mode)


about = {"package": "google-adk", "name": "Google ADK (Python)", "url": "https://github.com/google/adk-python"}
serve_over_wire(run, adk.describe, apis=["openai-chat", "anthropic"], **about)
