"""A tool returns an empty list. The model is shown a message without content. Exit code 1 if so."""

from scripted import AIMessage, Model, SENT, create_agent, tool


@tool
def look():
    """Looks."""
    return []


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
assert SENT[-1][-1].content == "[]", SENT[-1][-1].content
