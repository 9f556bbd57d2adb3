"""The model's arguments are cut off, in a response with one call. The run ends there: the model is not asked again, and the user is left without an
answer. Only the next message of the user sends one to the call ("malformed or truncated"). Exit code 1 if so.

The documentation does not announce it; beside a call that is well formed, the same answer is given at once and the model is asked again.
"""

from scripted import AIMessage, InMemorySaver, Model, SENT, create_agent, tool


@tool
def look(where: str) -> str:
    """Looks."""
    return "fine"


cut = [{"type": "invalid_tool_call", "id": "call_1", "name": "look", "args": '{"where": "Par', "error": None}]
agent = create_agent(Model(responses=[AIMessage("I look.", invalid_tool_calls=cut), AIMessage("Done")]), [look], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"messages": [("user", "How is Paris?")]}, thread)
requests = len(SENT)
agent.invoke({"messages": [("user", "Well?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), getattr(message, "invalid_tool_calls", []))
assert requests == 2, "the run ended without asking the model again"
