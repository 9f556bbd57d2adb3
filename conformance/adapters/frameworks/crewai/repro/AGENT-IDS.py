"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import os
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
from crewai import Agent, BaseLLM
from crewai.tools import tool

SENT = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id in ["c1", "c1"]]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


@tool("look")
def look():
    """Looks."""
    return "r"


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
ids = [message["tool_call_id"] for message in SENT[-1] if message["role"] == "tool"]
assert len(set(ids)) == len(ids), ids
