"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

import os
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
from crewai import Agent, BaseLLM

SENT = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        calls = [{"id": id, "type": "function", "function": {"name": "look", "arguments": "{}"}} for id in ["c1"]]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
agent.kickoff("Go")
assert len(SENT) == 2, "the model was not asked again"
