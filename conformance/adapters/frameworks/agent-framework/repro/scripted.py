"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

from agent_framework import Agent, BaseChatClient, ChatMiddlewareLayer, ChatResponse, Content, FunctionInvocationLayer, Message, tool

SENT = []
CALLS = []
SAID = []
RAN = []


class Scripted(FunctionInvocationLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append(list(messages))
        calls = [Content.from_function_call(id, "look", arguments="{}") for id in CALLS] if len(SENT) == 1 else []
        return ChatResponse(messages=[Message("assistant", calls or [Content.from_text("Done")])])


class Talking(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):
    async def _inner_get_response(self, *, messages, stream, options, **others):
        SENT.append([(message.role, [content.to_dict() for content in message.contents]) for message in messages])
        said = SAID.pop(0)
        if isinstance(said, Exception):
            raise said
        return ChatResponse(messages=[Message("assistant", [said])])


def look():
    """Looks."""
    return "r"


def call(id, name, arguments="{}"):
    return Content.from_function_call(id, name, arguments=arguments)


def text(words):
    return Content.from_text(words)


@tool(approval_mode="always_require")
def pay() -> str:
    """Pays."""
    RAN.append("pay")
    return "paid"
