"""The model answers at once. The answer is not among the messages that are handed back. Exit code 1 if so."""

import os
os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}
from crewai import Agent, BaseLLM

SENT = []


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        return "Done"

    def supports_function_calling(self):
        return True


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
handed_back = agent.kickoff("Go").messages
assert handed_back[-1]["content"] == "Done", handed_back
