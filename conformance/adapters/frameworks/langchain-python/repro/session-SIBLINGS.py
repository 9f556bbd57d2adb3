"""A call is approved; its sibling, which needed no approval, had returned. Then the approved one fails, and the user writes again: the sibling has no answer. Exit code 1 if so.

The documentation says that a tool's own exception ends the run (https://reference.langchain.com/python/langchain-core/tools/base/ToolException), and announces what is left of it as an
error of the caller (https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY).
"""

from scripted import AIMessage, Command, HumanInTheLoopMiddleware, InMemorySaver, Model, SENT, create_agent, tool


@tool
def look() -> str:
    """Looks at the account."""
    return "50 EUR left"


@tool
def pay(whom: str) -> str:
    """Pays somebody."""
    raise ConnectionError("the bank does not answer")


calls = [{"id": "call_1", "name": "look", "args": {}}, {"id": "call_2", "name": "pay", "args": {"whom": "bob"}}]
model = Model(responses=[AIMessage("May I?", tool_calls=calls), AIMessage("Done")])
agent = create_agent(model, [look, pay], middleware=[HumanInTheLoopMiddleware({"pay": True})], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"messages": [("user", "Pay Bob, if there is enough")]}, thread)
try:
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), thread)
except ConnectionError as error:
    print("the run ends:", error)
agent.invoke({"messages": [("user", "How much is left?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])], getattr(message, "tool_call_id", ""))
assert any(message.type == "tool" for message in SENT[-1]), "a provider refuses it: calls without tool messages behind them, though one had returned"
