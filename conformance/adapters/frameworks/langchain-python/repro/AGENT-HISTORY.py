"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

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


turns = [AIMessage("", tool_calls=[]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go"), AIMessage("", tool_calls=[{"id": "h1", "name": "look", "args": {}}]), ("user", "Well?")]})
print([(message.type, message.content) for message in SENT[-1]])
assert any(message.type == "tool" for message in SENT[0]), "h1 has no answer"
