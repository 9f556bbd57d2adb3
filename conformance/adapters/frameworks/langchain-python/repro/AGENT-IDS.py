"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

from langchain.agents import create_agent
from langchain.tools import tool
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

SENT = []


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *others, **options):
        SENT.append(messages)
        return super()._generate(messages, *others, **options)


@tool
def look():
    """Looks."""
    return "r"


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}, {"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
ids = [message.tool_call_id for message in SENT[-1] if message.type == "tool"]
assert len(set(ids)) == len(ids), ids
