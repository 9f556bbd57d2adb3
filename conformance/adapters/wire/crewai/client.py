"""CrewAI's `Agent.kickoff` on its own models, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from wire import adapter_of, serve_over_wire

# It switches telemetry off before CrewAI is imported.
crewai = adapter_of("crewai")

from crewai import LLM


def model(endpoint):
    provider = "anthropic" if endpoint.api == "anthropic" else "openai"
    options = {"api": "responses"} if endpoint.api == "openai-responses" else {}
    where = {"base_url": endpoint.base_url, "api_key": endpoint.api_key}
    return LLM(model=f"{provider}/{endpoint.model}", stream=endpoint.stream, **where, **options)


def run(run):
    crewai.run(run, model(run.endpoint))


APIS = ["openai-chat", "openai-responses", "anthropic"]
serve_over_wire(run, crewai.describe, apis=APIS, package="crewai", name="CrewAI", url="https://github.com/crewAIInc/crewAI")
