"""The list that was sent first goes on growing: a tracer or a model in the process that keeps it finds later messages in it. Exit code 1 if so."""

import os

os.environ |= {"CREWAI_DISABLE_TELEMETRY": "true", "OTEL_SDK_DISABLED": "true", "CREWAI_TRACING_ENABLED": "false"}

from scripted import Agent, BaseLLM, CALLS, SENT, tool


class Scripted(BaseLLM):
    def call(self, messages, *others, **options):
        SENT.append(messages)
        calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id, name in CALLS]
        return calls if len(SENT) == 1 and calls else "Done"

    def supports_function_calling(self):
        return True


@tool("look")
def look():
    """Looks."""
    return "r"


CALLS.extend([("c1", "look")])
agent = Agent(role="agent", goal="answer", backstory="none", llm=Scripted(model="scripted"), tools=[look])
agent.kickoff("Go")
assert len(SENT[0]) < len(SENT[1]), "request 1 is request 2"
