"""The model answers at once. The answer is not among the messages that are handed back. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, Scripted

agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
handed_back = agent.kickoff("Go").messages
assert handed_back[-1]["content"] == "Done", handed_back
