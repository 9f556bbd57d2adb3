"""A call waits for approval, and the conversation is loaded with its last two messages: the decision is taken, but the question that it belongs to
is not in the request. Exit code 1 if so.

The documentation of `ConversationStore.load` announces it in part: "The window can start in the middle of a turn, say with a tool result whose call it left out".
"""

import asyncio

from pydantic_ai import Conversation, DeferredToolRequests, DeferredToolResults
from pydantic_ai.conversation_store import InMemoryConversationStore
from scripted import Agent, FunctionModel, ModelResponse, SENT, TextPart, ToolCallPart


async def respond(messages, info):
    SENT.append(list(messages))
    calls = [ToolCallPart("look", "{}", "call_1")], [ToolCallPart("give_access", '{"to": "Sam"}', "call_2")]
    return ModelResponse(calls[len(SENT) - 1] if len(SENT) <= len(calls) else [TextPart("Done")])


async def main():
    agent = Agent(FunctionModel(respond), output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def look() -> str:
        return "Sam has no access"

    @agent.tool_plain(requires_approval=True)
    def give_access(to: str) -> str:
        return f"{to} has access"

    store = InMemoryConversationStore()
    await store.save(await agent.run("Give Sam access, but read-only", conversation=Conversation(conversation_id="1")))
    conversation = await store.load("1", limit=2)
    await agent.run(conversation=conversation, deferred_tool_results=DeferredToolResults(approvals={"call_2": True}))


asyncio.run(main())
for message in SENT[-1]:
    print(message.kind, [(part.part_kind, getattr(part, "content", None) or part.tool_call_id) for part in message.parts])
said = [part.content for message in SENT[-1] for part in message.parts if part.part_kind == "user-prompt"]
assert said, "the model does not see what it was asked for"
