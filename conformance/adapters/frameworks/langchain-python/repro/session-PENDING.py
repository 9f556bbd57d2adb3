"""A call waits for approval, and the user writes something else: the call stands there without an answer. Exit code 1 if so.

The documentation says that such a thread is resumed with a decision (https://docs.langchain.com/oss/python/langchain/human-in-the-loop), and that a history with an
open call is an error of the caller (https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY), but the message is taken, and the decision behind it is lost.
"""

from scripted import AIMessage, HumanInTheLoopMiddleware, InMemorySaver, Model, SENT, create_agent, tool


@tool
def pay(amount: int) -> str:
    """Pays."""
    return "paid"


model = Model(responses=[AIMessage("May I?", tool_calls=[{"id": "call_1", "name": "pay", "args": {"amount": 5}}]), AIMessage("Done")])
agent = create_agent(model, [pay], middleware=[HumanInTheLoopMiddleware({"pay": True})], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
waiting = agent.invoke({"messages": [("user", "Pay 5")]}, thread)
print("waits for", waiting["__interrupt__"][0].value["action_requests"])
agent.invoke({"messages": [("user", "Whom, by the way?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])])
assert any(message.type == "tool" for message in SENT[-1]), "a provider refuses it: a call without a tool message behind it"
