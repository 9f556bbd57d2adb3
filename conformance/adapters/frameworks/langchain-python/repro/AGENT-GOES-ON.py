"""A tool has a parameter called `self`, as the schema of a remote tool may. Calling it ends the run. Exit code 1 if so."""

from langchain_core.tools import StructuredTool
from scripted import AIMessage, FakeMessagesListChatModel, create_agent


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self


def look(**args):
    return "r"


schema = {"type": "object", "properties": {"self": {"type": "integer"}}}
tool = StructuredTool(name="look", description="Looks.", args_schema=schema, func=look)
turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {"self": 1}}]), AIMessage("Done")]
try:
    state = create_agent(Model(responses=turns), [tool]).invoke({"messages": [("user", "Go")]})
except TypeError as error:
    raise AssertionError("the call has no answer") from error
assert state["messages"][-1].content == "Done"
