# /// script
# requires-python = ">=3.11"
# dependencies = ["langchain==1.5.2", "langchain-core==1.8.1", "langchain-openai==1.7.4", "langgraph==1.2.24", "langgraph-checkpoint-sqlite==3.1.2"]
# [tool.uv]
# exclude-newer = "2026-11-25T00:00:00Z"
# ///
"""A LangChain agent with a SQLite checkpointer: what `dumpd` makes of its messages, and the database of LangGraph's checkpoints."""

import tempfile
from pathlib import Path

import story
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.load import dumpd
from langchain_core.messages import ToolMessage, messages_to_dict
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.sqlite import SqliteSaver
from out import source, write, write_database


@wrap_tool_call
def errors_are_results(request, handler):
    try:
        return handler(request)
    except RuntimeError as error:
        return ToolMessage(f"Error: {error}", tool_call_id=request.tool_call["id"], status="error")


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "checkpoints.sqlite"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        agent = create_agent(ChatOpenAI(model=story.CHAT_MODEL), [tool(story.get_weather)], system_prompt=story.SYSTEM, middleware=[errors_are_results], checkpointer=saver)
        for number, (texts, image) in enumerate(story.openings(), 1):
            for index, text in enumerate(texts):
                content = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": image}}] if image and not index else text
                state = agent.invoke({"messages": [{"role": "user", "content": content}]}, {"configurable": {"thread_id": f"thread-{number}"}})
            name = "clean.json" if number == 1 else "clean-picture.json"
            write("langchain-dumpd", name, dumpd(state["messages"]))
            write("langchain-messages", name, messages_to_dict(state["messages"]))
    write_database("langgraph-sqlite", path)
source("langchain-dumpd", "`dumpd` of the messages of an agent's state, for each thread.", "langchain", "langchain-core", "langchain-openai", script="make-langchain.py")
source("langchain-messages", "`messages_to_dict` of the messages of an agent's state, for each thread.", "langchain", "langchain-core", "langchain-openai", script="make-langchain.py")
source("langgraph-sqlite", "The database of LangGraph's `SqliteSaver` (checkpoints in msgpack) after both conversations, each a thread.", "langgraph", "langgraph-checkpoint-sqlite", "langchain-core", script="make-langchain.py")
