"""The model of these reproductions, scripted, and what they share. `threadspec matrix repro` prints one of them as a single file."""

import asyncio

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.language_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

SENT = []
WORKING = asyncio.Event()


class Model(FakeMessagesListChatModel):
    def bind_tools(self, tools, **options):
        return self

    def _generate(self, messages, *others, **options):
        SENT.append(messages)
        return super()._generate(messages, *others, **options)


@tool
def look():
    """Looks."""
    return "r"
