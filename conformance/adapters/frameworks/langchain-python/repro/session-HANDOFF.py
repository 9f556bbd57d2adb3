"""A response hands over and calls a tool of the old agent: the tool runs, and its answer is not in the new agent's request. Exit code 1 if so.

The documentation of `langgraph-swarm` does not announce it; it asks for models without parallel calls nowhere (https://github.com/langchain-ai/langgraph-swarm-py/issues/69).
"""

from langgraph_swarm import create_handoff_tool, create_swarm
from scripted import AIMessage, InMemorySaver, Model, SENT, create_agent, tool

RAN = []


@tool
def look() -> str:
    """Looks."""
    RAN.append("look")
    return "three left"


calls = [{"id": "call_1", "name": "look", "args": {}}, {"id": "call_2", "name": "transfer_to_bob", "args": {}}]
alice = create_agent(Model(responses=[AIMessage("I look, and Bob takes over.", tool_calls=calls)]), [look, create_handoff_tool(agent_name="bob")], name="alice")
bob = create_agent(Model(responses=[AIMessage("Bob here")]), [create_handoff_tool(agent_name="alice")], name="bob")
swarm = create_swarm([alice, bob], default_active_agent="alice").compile(checkpointer=InMemorySaver())
swarm.invoke({"messages": [("user", "How many are left?")]}, {"configurable": {"thread_id": "1"}})
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])], getattr(message, "tool_call_id", ""))
assert RAN == ["look"]
answered = {message.tool_call_id for message in SENT[-1] if message.type == "tool"}
assert "call_1" in answered, "a provider refuses it: call_1 has no tool message behind it"
