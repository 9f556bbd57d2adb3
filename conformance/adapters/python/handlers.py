"""What the adapter does for each op of the protocol."""

from langchain_messages import plain
from loop import run_loop, run_tools
from threadspec import build_messages, escape_xml, serialize_thread
from universal import run_universal

HANDLERS = {
    "escape": lambda it, profile: escape_xml(it.get("text"), profile),
    "serialize": lambda it, profile: serialize_thread(it.get("events"), it.get("responsePrefix"), profile),
    "messages": lambda it, profile: plain(
        build_messages(it.get("events"), it.get("contextMode"), it.get("instructions"), profile)
    ),
    "tools": lambda it, profile: run_universal(it) if profile == "universal" else run_tools(it, profile),
    "loop": run_loop,
}
