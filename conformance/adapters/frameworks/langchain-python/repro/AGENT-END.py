"""The run is cut at the limit. What is handed back has a call without an answer, and no provider takes it. Exit code 1 if so."""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langgraph.errors import GraphRecursionError


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self


@tool
def look():
    """Looks."""
    return "r"


turns = [AIMessage("", tool_calls=[{"id": id, "name": "look", "args": {}}]) for id in ("c1", "c2", "c3")]
agent = create_agent(Model(responses=turns), [look])
try:
    for state in agent.stream({"messages": [("user", "Go")]}, {"recursion_limit": 3}, stream_mode="values"):
        last = state["messages"][-1]
except GraphRecursionError:
    print(last)
assert last.type == "tool", "c2 has no answer"
