"""A model provider for tests: it plays scripted answers, and judges the requests of an agent.

``threadspec_provider`` is the pytest fixture; ``Provider`` is the same without pytest.
"""

from threadspec.provider import Provider, Verdict

__all__ = ["Provider", "Verdict"]
