"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

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
    return "\ud83d"


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "look", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), [look]).invoke({"messages": [("user", "Go")]})
assert "\ud83d" not in SENT[-1][-1].content, ascii(SENT[-1][-1].content)
