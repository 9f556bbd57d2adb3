"""Two calls wait for approval, and the caller hands in one decision: an error. From then on the complete decisions are refused with the same words,
since the first ones are kept in the checkpoint and read again: the thread can never be decided. Exit code 1 if so.

The documentation says that each action requires a decision of its own (https://docs.langchain.com/oss/python/langchain/human-in-the-loop); that a wrong list of
decisions stays is not announced. langchain-ai/langgraph#8837 is about answers that come again.
"""

from scripted import AIMessage, Command, HumanInTheLoopMiddleware, InMemorySaver, Model, SENT, create_agent, tool


@tool
def pay(whom: str) -> str:
    """Pays somebody."""
    return f"{whom} is paid"


calls = [{"id": f"call_{whom}", "name": "pay", "args": {"whom": whom}} for whom in ("alice", "bob")]
model = Model(responses=[AIMessage("May I?", tool_calls=calls), AIMessage("Done"), AIMessage("Bye")])
agent = create_agent(model, [pay], middleware=[HumanInTheLoopMiddleware({"pay": True})], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"messages": [("user", "Pay both")]}, thread)
refusals = []
for number in (1, 2, 2):
    try:
        agent.invoke(Command(resume={"decisions": [{"type": "approve"}] * number}), thread)
    except ValueError as error:
        refusals.append(str(error))
        print(f"{number} of 2 decisions:", error)
agent.invoke({"messages": [("user", "Who is paid?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])], getattr(message, "tool_call_id", ""))
assert len(refusals) < 3, "complete decisions are refused, now and ever; and a provider refuses what is sent when the user goes on: calls without answers"
