"""An agent without tools, a model that calls one, and the next message of the user: the call stands there without an answer. Exit code 1 if so.

The documentation says that an agent without tools is a model without a loop for its calls (https://reference.langchain.com/python/langchain/agents/factory/create_agent), not
that its thread is lost.
"""

from scripted import AIMessage, InMemorySaver, Model, SENT, create_agent

calls = [{"id": "call_1", "name": "translate", "args": {"text": "Guten Tag"}}]
agent = create_agent(Model(responses=[AIMessage("", tool_calls=calls), AIMessage("Done")]), [], checkpointer=InMemorySaver())
thread = {"configurable": {"thread_id": "1"}}
agent.invoke({"messages": [("user", "Translate 'Guten Tag'")]}, thread)
agent.invoke({"messages": [("user", "Well?")]}, thread)
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])], getattr(message, "tool_call_id", ""))
assert any(message.type == "tool" for message in SENT[-1]), "a provider refuses it: a call without a tool message behind it"
