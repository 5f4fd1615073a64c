"""What the tests of this server share."""

from collections.abc import Generator

import pytest
from mcp_server_core.testing import REVISIONS, Revision

from .site import Site, serving


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


@pytest.fixture
def anyio_backend() -> str:
    # The server runs on asyncio. httpcore leaves its generators to the loop, which trio calls a leak.
    return "asyncio"


@pytest.fixture
def site() -> Generator[Site]:
    with serving() as running:
        yield running


@pytest.fixture(autouse=True)
def no_proxy_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
