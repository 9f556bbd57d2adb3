"""The model calls a tool that does not exist. The answer does not say which. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([("c1", "missing")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
answer = [message for message in SENT[-1] if message["role"] == "tool"][0]
assert "missing" in answer["content"], answer
