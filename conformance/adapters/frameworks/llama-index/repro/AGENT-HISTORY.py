"""The history has a call without an answer. It is sent as it is, and no provider takes it. Exit code 1 if so."""

import asyncio

from scripted import ChatMessage, FunctionAgent, SENT, Scripted, ToolCallBlock


async def main():
    asked = ToolCallBlock(tool_call_id="h1", tool_name="look", tool_kwargs={})
    history = [ChatMessage(role="assistant", blocks=[asked]), ChatMessage(role="user", content="Well?")]
    await FunctionAgent(llm=Scripted(), tools=[len], streaming=False).run(chat_history=history)


asyncio.run(main())
assert any(message.role == "tool" for message in SENT[0]), "h1 has no answer"
