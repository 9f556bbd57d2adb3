"""The sessions of LangChain's `create_agent` on its provider packages, over the wire."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "shared"))

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from wire_session import serve_sessions_over_wire, session_of

langchain = session_of("langchain-python")
# Of thinking, as the documentation of each package switches it on.
THINKING = {
    "anthropic": {"max_tokens": 4096, "thinking": {"type": "enabled", "budget_tokens": 2048}},
    "openai-responses": {"reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"], "store": False},
}


class WireThread(langchain.LangGraphThread):
    def model(self, summarizes=False):
        endpoint = self.session.endpoint
        options = {"model": endpoint.model, "api_key": endpoint.api_key, "base_url": endpoint.base_url}
        if endpoint.reasoning:
            options |= THINKING.get(endpoint.api, {})
        if endpoint.api == "anthropic":
            return ChatAnthropic(**options)
        return ChatOpenAI(use_responses_api=endpoint.api == "openai-responses", **options)


APIS = ["openai-chat", "openai-responses", "anthropic"]
about = {"package": "langchain", "name": "LangChain create_agent (Python)", "url": "https://github.com/langchain-ai/langchain"}
serve_sessions_over_wire(WireThread, features=langchain.FEATURES, handoff=lambda agent: f"transfer_to_{agent}", reasons=True, apis=APIS, **about)
