"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

from scripted import AIMessage, Model, SENT, create_agent, look

turns = [AIMessage("", tool_calls=[]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go"), AIMessage("", tool_calls=[{"id": "h1", "name": "look", "args": {}}]), ("user", "Well?")]})
print([(message.type, message.content) for message in SENT[-1]])
assert any(message.type == "tool" for message in SENT[0]), "h1 has no answer"
