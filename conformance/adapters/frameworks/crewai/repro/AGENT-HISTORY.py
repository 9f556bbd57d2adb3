"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, SENT, Scripted

agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
asked = {"id": "h1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
agent.kickoff([{"role": "assistant", "content": "", "tool_calls": [asked]}, {"role": "user", "content": "Well?"}])
assert any(message["role"] == "tool" for message in SENT[0]), "h1 has no answer"
