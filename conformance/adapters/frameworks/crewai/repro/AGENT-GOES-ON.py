"""The model answers with an empty text. The run ends with an exception. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, BaseLLM, SENT


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(list(messages))
        return ""

    def supports_function_calling(self):
        return True


agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"))
try:
    agent.kickoff("Go")
except ValueError as error:
    raise AssertionError("an empty answer is an answer") from error
