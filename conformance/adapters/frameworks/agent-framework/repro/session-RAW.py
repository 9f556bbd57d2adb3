"""The arguments of a call are cut off, and the tool, whose argument has a default, is executed without them. Exit code 1 if so.

The documentation of tools (https://learn.microsoft.com/en-us/agent-framework/agents/tools/function-tools) does not announce it.
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


@tool
def clean(folder: str = "/") -> str:
    """Cleans a folder."""
    RAN.append(folder)
    return f"{folder} is clean"


async def main():
    agent = Agent(client=Scripted(), tools=[clean])
    SAID.extend([call("c", "clean", '{"folder": "/tm'), text("Done")])
    await agent.run("Clean /tmp", session=agent.create_session())


asyncio.run(main())
print(*SENT[-1], sep="\n")
print("cleaned:", RAN)
assert not RAN, "a call whose arguments are cut off is executed"
