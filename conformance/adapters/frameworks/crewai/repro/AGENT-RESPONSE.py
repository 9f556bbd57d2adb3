"""The model calls `Look`. It is shown that it called `look`. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([("c1", "Look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
response = [message for message in SENT[1] if message["role"] == "assistant"][0]
assert response["tool_calls"][0]["function"]["name"] == "Look", response
