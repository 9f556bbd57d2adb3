"""The model uses one id twice. Both calls and both answers are sent with it, and no provider takes them. Exit code 1 if so."""

import asyncio
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

SENT = []


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append(list(messages))
        calls = [Content.from_function_call(id, "look", arguments="{}") for id in ["c1", "c1"]] if len(SENT) == 1 else []
        return ChatResponse(messages=[Message("assistant", calls or [Content.from_text("Done")])])


def look():
    """Looks."""
    return "r"


asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
ids = [content.call_id for content in SENT[-1][-1].contents]
assert len(set(ids)) == len(ids), ids
