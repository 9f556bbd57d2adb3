"""What is wrong with an agent's messages, and a model provider for tests.

``check`` says what is wrong with messages, requests and logs; ``assert_history`` is the same for tests. ``threadspec_provider`` is a
pytest fixture that plays scripted answers and judges the requests of an agent; ``Provider`` is the same without pytest.
"""

from threadspec.findings import Api, Finding, Level, Place, assert_history, check
from threadspec.provider import Provider, Verdict

__all__ = ["Api", "Finding", "Level", "Place", "Provider", "Verdict", "assert_history", "check"]
