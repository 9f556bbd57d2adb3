"""The model calls `Look`. It is shown that it called `look`. Exit code 1 if so."""

import os
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
from crewai import Agent, BaseLLM
from crewai.tools import tool

SENT = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "Look", "arguments": "{}"}} for id in ["c1"]]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


@tool("look")
def look():
    """Looks."""
    return [True, None]


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
response = [message for message in SENT[1] if message["role"] == "assistant"][0]
assert response["tool_calls"][0]["function"]["name"] == "Look", response
