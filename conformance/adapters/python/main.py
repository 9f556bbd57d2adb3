"""The adapter: run it under `threadspec verify -- python3 conformance/adapters/python/main.py`."""

from langchain_messages import LIBRARY, plain
from loop import run_loop, run_tools
from protocol import serve
from threadspec import build_messages, escape_xml, serialize_thread
from universal import run_universal

serve(
    {
        "escape": lambda it, profile: escape_xml(it.get("text"), profile),
        "serialize": lambda it, profile: serialize_thread(it.get("events"), it.get("responsePrefix"), profile),
        "messages": lambda it, profile: plain(
            build_messages(it.get("events"), it.get("contextMode"), it.get("instructions"), profile)
        ),
        "tools": lambda it, profile: run_universal(it) if profile == "universal" else run_tools(it, profile),
        "loop": run_loop,
    },
    implementation={
        "name": f"threadspec-python ({LIBRARY})",
        "version": "0.1.0",
        "language": "Python",
        "url": "https://github.com/threadspec/threadspec",
    },
    profiles=("literal", "hardened", "universal"),
)
