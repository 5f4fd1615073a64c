"""Every test of authorization runs on asyncio and on trio."""

import pytest


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop."""
    return request.param
