"""The model calls a tool that does not exist. The answer does not say which. Exit code 1 if so."""

import os
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
from crewai import Agent, BaseLLM
from crewai.tools import tool

SENT = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "missing", "arguments": "{}"}} for id in ["c1"]]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


@tool("look")
def look():
    """Looks."""
    return [True, None]


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
answer = [message for message in SENT[-1] if message["role"] == "tool"][0]
assert "missing" in answer["content"], answer
