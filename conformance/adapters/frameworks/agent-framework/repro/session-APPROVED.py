"""A call is approved and executed, and the model fails behind it. Nothing of it is in the next request, neither the call nor its result, though it is done.
Exit code 1 if so.

The documentation (https://learn.microsoft.com/en-us/agent-framework/agents/conversations/storage) says that history is stored when a run is over.
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


@tool(approval_mode="always_require")
def pay() -> str:
    """Pays."""
    RAN.append("pay")
    return "paid"


async def main():
    agent = Agent(client=Scripted(), tools=[pay])
    session = agent.create_session()
    SAID.extend([call("p", "pay"), ConnectionError("overloaded"), text("Done")])
    paused = await agent.run("Pay", session=session)
    try:
        await agent.run(Message("user", [paused.user_input_requests[0].to_function_approval_response(True)]), session=session)
    except Exception as error:
        print("the run failed:", error)
    await agent.run("Is it paid?", session=session)


asyncio.run(main())
print(*SENT[-1], sep="\n")
print("ran:", RAN)
assert not RAN or "paid" in str(SENT[-1][1:-1]), "it is paid, and the model does not see it"
