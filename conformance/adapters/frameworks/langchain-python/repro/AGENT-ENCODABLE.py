"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

from scripted import AIMessage, Model, SENT, create_agent, tool


@tool
def look():
    """Looks."""
    return "\ud83d"


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
assert "\ud83d" not in SENT[-1][-1].content, ascii(SENT[-1][-1].content)
