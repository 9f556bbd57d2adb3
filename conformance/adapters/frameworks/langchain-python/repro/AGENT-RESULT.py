"""A tool returns an empty list. The model is shown a message without content. Exit code 1 if so."""

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
    return []


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
assert SENT[-1][-1].content == "[]", SENT[-1][-1].content
