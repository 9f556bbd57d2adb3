"""An approved call fails with an exception, and the user writes again: neither the approved call nor its sibling, which had returned, is answered. Exit code 1 if so.

The documentation says that a tool's own exception ends the run (https://reference.langchain.com/python/langchain-core/tools/base/ToolException), and announces what is left of it as an
error of the caller (https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY).
"""

from scripted import AIMessage, Command, HumanInTheLoopMiddleware, InMemorySaver, Model, SENT, create_agent, tool


@tool
def pay(whom: str) -> str:
    """Pays somebody."""
    if whom == "bob":
        raise ConnectionError("the bank does not answer")
    return f"{whom} is paid"


calls = [{"id": f"call_{whom}", "name": "pay", "args": {"whom": whom}} for whom in ("alice", "bob")]
model = Model(responses=[AIMessage("May I?", tool_calls=calls), AIMessage("Done")])
agent = create_agent(model, [pay], middleware=[HumanInTheLoopMiddleware({"pay": True})], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"messages": [("user", "Pay both")]}, thread)
try:
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}, {"type": "approve"}]}), thread)
except ConnectionError as error:
    print("the run ends:", error)
agent.invoke({"messages": [("user", "Who is paid?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])], getattr(message, "tool_call_id", ""))
assert any(message.type == "tool" for message in SENT[-1]), "a provider refuses it: two calls without tool messages behind them"
