"""Every test of a server runs on asyncio and on trio; `revision` makes it run at every revision."""

import pytest
from mcp_server_core.protocol.revisions import Revision

from .talking import HANDSHAKE, REVISIONS


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """The event loop."""
    return request.param


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    """Each of the five revisions."""
    return request.param


@pytest.fixture(params=HANDSHAKE)
def old(request: pytest.FixtureRequest) -> Revision:
    """Each revision of the handshake era."""
    return request.param
