"""The fixture ``threadspec_provider``."""

from __future__ import annotations

from typing import Callable, Iterator

import pytest

from threadspec.provider import Provider

_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    if call.when == "call":
        item.stash[_FAILED] = not report.passed
    return report


@pytest.fixture
def threadspec_provider(request: pytest.FixtureRequest) -> Iterator[Callable[..., Provider]]:
    """A function that starts a model provider with a script, and returns a ``threadspec.Provider``.

    Every provider is ended with the test. One whose verdict the test did not ask for is judged then, unless the test failed anyway.
    """
    providers: list[Provider] = []

    def start(*arguments, **options) -> Provider:
        providers.append(Provider(*arguments, **options))
        return providers[-1]

    yield start
    forgotten = [provider for provider in providers if not provider.is_judged]
    for provider in forgotten:
        provider.close()
    if not request.node.stash.get(_FAILED, True):
        for provider in forgotten:
            provider.assert_conformant()
