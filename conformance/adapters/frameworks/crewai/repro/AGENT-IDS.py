"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, CALLS, SENT, Scripted, tool


@tool("look")
def look():
    """Looks."""
    return "r"


CALLS.extend([("c1", "look"), ("c1", "look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
ids = [message["tool_call_id"] for message in SENT[-1] if message["role"] == "tool"]
assert len(set(ids)) == len(ids), ids
