"""A tool returns a lone surrogate. It is sent as it is, and cannot be written as UTF-8. Exit code 1 if so."""

import asyncio
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

SENT = []


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append(list(messages))
        calls = [Content.from_function_call(id, "look", arguments="{}") for id in ["c1"]] if len(SENT) == 1 else []
        return ChatResponse(messages=[Message("assistant", calls or [Content.from_text("Done")])])


def look():
    """Looks."""
    return "\ud83d"


asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
assert "\ud83d" not in SENT[-1][-1].contents[0].result, ascii(SENT[-1][-1].contents[0].result)
