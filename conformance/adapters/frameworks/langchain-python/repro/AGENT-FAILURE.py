"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

from langchain.agents import create_agent
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

SENT = []


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *others, **options):
        SENT.append(messages)
        return super()._generate(messages, *others, **options)


turns = [AIMessage("", tool_calls=[{"id": "c1", "name": "missing", "args": {}}]), AIMessage("Done")]
create_agent(Model(responses=turns), []).invoke({"messages": [("user", "Go")]})
print([(message.type, message.content) for message in SENT[-1]])
assert len(SENT) == 2, "the model was not asked again"
