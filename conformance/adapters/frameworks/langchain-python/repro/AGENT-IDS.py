"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from scripted import AIMessage, Model, SENT, create_agent, look

turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}, {"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
ids = [message.tool_call_id for message in SENT[-1] if message.type == "tool"]
assert len(set(ids)) == len(ids), ids
