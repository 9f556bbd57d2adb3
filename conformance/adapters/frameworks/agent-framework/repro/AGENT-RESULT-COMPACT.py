"""A tool returns a dict with a letter beyond ASCII. The model is shown its escape, six tokens for one. Exit code 1 if so."""

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
    return {"city": "Zürich"}


asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert "Zürich" in SENT[-1][-1].contents[0].result, SENT[-1][-1].contents[0].result
