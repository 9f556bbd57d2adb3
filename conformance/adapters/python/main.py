"""The adapter: run it under `threadspec verify -- python3 conformance/adapters/python/main.py`."""

from handlers import HANDLERS
from langchain_messages import LIBRARY
from protocol import serve

serve(
    HANDLERS,
    implementation={
        "name": f"threadspec-python ({LIBRARY})",
        "version": "0.1.0",
        "language": "Python",
        "url": "https://github.com/threadspec/threadspec",
    },
    profiles=("literal", "hardened", "universal"),
)
