"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

from scripted import Agent, Message, SENT, Scripted, look

Agent(model=Scripted(id="scripted"), tools=[look], telemetry=False).run([
    Message(role="assistant", tool_calls=[{"id": "h1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]),
    Message(role="user", content="Well?"),
])
print([(message.role, message.content) for message in SENT[-1]])
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
