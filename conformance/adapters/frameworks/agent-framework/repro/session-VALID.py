"""An agent without tools gets a call from its model. The call stays without an answer in every later request, which a provider refuses. Exit code 1 if so.

The documentation does not say what an agent without tools does with a call.
"""

import asyncio

from agent_framework import Agent, BaseChatClient, ChatMiddlewareLayer, ChatResponse, Content, FunctionInvocationLayer, Message, tool

SENT, SAID, RAN = [], [], []


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append([(message.role, [content.to_dict() for content in message.contents]) for message in messages])
        said = SAID.pop(0)
        if isinstance(said, Exception):
            raise said
        return ChatResponse(messages=[Message("assistant", [said])])


def call(id, name, arguments="{}"):
    return Content.from_function_call(id, name, arguments=arguments)


def text(words):
    return Content.from_text(words)


async def main():
    agent = Agent(client=Scripted())
    session = agent.create_session()
    SAID.extend([call("c", "look"), text("Done")])
    await agent.run("Look", session=session)
    await agent.run("And now?", session=session)


asyncio.run(main())
print(*SENT[-1], sep="\n")
assert SENT[-1][-2][0] != "assistant", "the call is not answered before the next message"
