"""Messages: LangChain's own where langchain-core is installed, else plain objects of the same shape."""

from types import SimpleNamespace

try:
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
except ModuleNotFoundError:
    LIBRARY = "plain objects"

    def message(kind, content, **others):
        return SimpleNamespace(type=kind, content=content, **others)

else:
    LIBRARY = "langchain-core"
    _CLASSES = {"system": SystemMessage, "human": HumanMessage, "ai": AIMessage, "tool": ToolMessage}

    def message(kind, content, **others):
        return _CLASSES[kind](content, **others)


def plain(messages):
    """The messages as the protocol writes them."""
    return [_describe(message) for message in messages]


def _describe(message):
    description = {"type": message.type, "content": message.content}
    if message.type == "ai" and message.tool_calls:
        # LangChain adds a member `type`.
        calls = [{name: call[name] for name in ("id", "name", "args")} for call in message.tool_calls]
        description["tool_calls"] = calls
    if message.type == "tool":
        description["tool_call_id"] = message.tool_call_id
    return description
