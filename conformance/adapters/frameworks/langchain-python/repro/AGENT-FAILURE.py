"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

from scripted import AIMessage, Model, SENT, create_agent

turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "missing", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), []).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
assert len(SENT) == 2, "the model was not asked again"
