"""The list that was sent first goes on growing: a tracer or a model in the process that keeps it finds later messages in it. Exit code 1 if so."""

from scripted import Agent, CALLS, Model, ModelResponse, SENT, look


class Scripted(Model):
    ainvoke = invoke_stream = ainvoke_stream = _parse_provider_response = _parse_provider_response_delta = None

    def invoke(self, messages, assistant_message, **options):
        SENT.append(messages)
        calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id, name in CALLS]
        return ModelResponse(role="assistant", tool_calls=calls) if len(SENT) == 1 and calls else ModelResponse(role="assistant", content="Done")


CALLS.extend([("c1", "look")])
Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run("Go")
print([(message.role, message.content) for message in SENT[-1]])
assert len(SENT[0]) < len(SENT[1]), "request 1 is request 2"
