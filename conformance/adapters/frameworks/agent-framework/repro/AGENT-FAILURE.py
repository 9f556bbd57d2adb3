"""The agent has no tools, and the model calls one. The run ends, and the call has no answer. Exit code 1 if so."""

import asyncio
from agent_framework import Agent, BaseChatClient, ChatResponse, Content, FunctionInvocationLayer, Message

SENT = []


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append(list(messages))
        calls = [Content.from_function_call(id, "look", arguments="{}") for id in ["c1"]] if len(SENT) == 1 else []
        return ChatResponse(messages=[Message("assistant", calls or [Content.from_text("Done")])])


asyncio.run(Agent(client=Scripted()).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert len(SENT) == 2, "the model was not asked again"
