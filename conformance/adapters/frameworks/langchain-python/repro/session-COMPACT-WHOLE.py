"""The conversation is summarized in the middle of a long turn: the question that the tools work on goes into the summary with the rest, and the model
is not shown what it was asked. Exit code 1 if so.

The documentation says that older messages are summarized and recent ones kept (https://docs.langchain.com/oss/python/langchain/middleware/built-in#summarization);
that the user message of the turn that is open may be among the older ones it does not say (https://github.com/langchain-ai/langchain/issues/39261).
"""

from langchain.agents.middleware import SummarizationMiddleware
from scripted import AIMessage, FakeMessagesListChatModel, Model, SENT, create_agent, tool


@tool
def look(n: int) -> str:
    """Reads a contract."""
    return f"contract {n}: twelve clauses"


turns = [AIMessage("", tool_calls=[{"id": f"call_{n}", "name": "look", "args": {"n": n}}]) for n in (1, 2, 3)] + [AIMessage("The second.")]
summarizer = FakeMessagesListChatModel(responses=[AIMessage("A talk about contracts.")])
summary = SummarizationMiddleware(summarizer, trigger=("messages", 6), keep=("messages", 4))
create_agent(Model(responses=turns), [look], middleware=[summary]).invoke({"messages": [("user", "Compare the contracts, and tell me which is safer")]})
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])])
assert "which is safer" in str(SENT[-1]), "the question is gone"
