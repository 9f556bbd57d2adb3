"""The list that was sent first goes on growing: a tracer or a model in the process that keeps it finds later messages in it. Exit code 1 if so."""

import asyncio

from scripted import Agent, BaseChatClient, CALLS, ChatResponse, Content, FunctionInvocationLayer, Message, SENT, look


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append(messages)
        calls = [Content.from_function_call(id, "look", arguments="{}") for id in CALLS] if len(SENT) == 1 else []
        return ChatResponse(messages=[Message("assistant", calls or [Content.from_text("Done")])])


CALLS.extend(["c1"])
asyncio.run(Agent(client=Scripted(), tools=[look]).run("Go"))
print([(message.role, [content.to_dict() for content in message.contents]) for message in SENT[-1]])
assert len(SENT[0]) < len(SENT[1]), "request 1 is request 2"
