"""A tool returns True and None. The model is shown Python, not JSON. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted, look

CALLS.extend([("c1", "look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
assert SENT[-1][-1]["content"] in ("[true, null]", "null"), SENT[-1][-1]["content"]
