"""The user presses stop while the second of three tools works, and writes again: three calls stand there without an answer. Exit code 1 if so.

The documentation announces it as an error of the caller, to be mended by hand: a run that stopped between its model and its tools must be resumed without
an input (https://docs.langchain.com/oss/python/langgraph/errors/INVALID_CHAT_HISTORY). A run that ends by an exception of a tool, or with its process, leaves the same.
"""

import asyncio

from scripted import AIMessage, InMemorySaver, Model, SENT, WORKING, create_agent, tool


@tool
async def look(where: str) -> str:
    """Looks."""
    if where == "b":
        WORKING.set()
        await asyncio.sleep(3600)
    return f"{where} is fine"


async def main():
    calls = [{"id": f"call_{where}", "name": "look", "args": {"where": where}} for where in "abc"]
    model = Model(responses=[AIMessage("I look.", tool_calls=calls), AIMessage("Done")])
    agent, thread = create_agent(model, [look], checkpointer=InMemorySaver()), {"configurable": {"thread_id": "1"}}
    running = asyncio.create_task(agent.ainvoke({"messages": [("user", "Look at a, b and c")]}, thread))
    await WORKING.wait()
    await asyncio.sleep(0.1)
    running.cancel()
    await asyncio.wait({running})
    await agent.ainvoke({"messages": [("user", "Skip b")]}, thread)


asyncio.run(main())
for message in SENT[-1]:
    print(message.type, repr(message.content), [call["id"] for call in getattr(message, "tool_calls", [])])
answered = {message.tool_call_id for message in SENT[-1] if message.type == "tool"}
assert answered, "a provider refuses it: calls without tool messages behind them"
