"""The sessions of the OpenAI Agents SDK on its own models, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from agents import ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel
from openai import AsyncOpenAI
from openai.types.shared import Reasoning
from wire_session import serve_sessions_over_wire, session_of

agents = session_of("openai-agents-python")


class WireThread(agents.AgentsThread):
    def agent(self, one):
        agent = super().agent(one)
        if self.session.endpoint.reasoning:
            # As its documentation keeps reasoning where the provider keeps nothing.
            agent.model_settings = ModelSettings(reasoning=Reasoning(effort="low"), store=False, response_include=["reasoning.encrypted_content"])
        return agent

    def model(self):
        endpoint = self.session.endpoint
        kind = OpenAIChatCompletionsModel if endpoint.api == "openai-chat" else OpenAIResponsesModel
        return kind(endpoint.model, AsyncOpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key))


about = {"package": "openai-agents", "name": "OpenAI Agents SDK (Python)", "url": "https://github.com/openai/openai-agents-python"}
options = {"features": agents.FEATURES, "saves": "run", "handoff": lambda agent: f"transfer_to_{agent}", "reasons": True}
serve_sessions_over_wire(WireThread, apis=["openai-chat", "openai-responses"], **options, **about)
