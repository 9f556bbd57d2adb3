"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted, tool


@tool("look")
def look():
    """Looks."""
    return "\ud83d"


CALLS.extend([("c1", "look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
assert "\ud83d" not in SENT[-1][-1]["content"], ascii(SENT[-1][-1]["content"])
