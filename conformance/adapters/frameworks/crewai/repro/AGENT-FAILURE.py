"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted

CALLS.extend([("c1", "look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
agent.kickoff("Go")
assert len(SENT) == 2, "the model was not asked again"
