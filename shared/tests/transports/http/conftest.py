"""A server over HTTP runs on uvicorn, and that runs on asyncio alone."""

import pytest
from mcp_server_core.protocol.revisions import Revision

from .serving import HANDSHAKE


@pytest.fixture
def anyio_backend() -> str:
    """The event loop."""
    return "asyncio"


@pytest.fixture(params=HANDSHAKE)
def old(request: pytest.FixtureRequest) -> Revision:
    """Each revision of the handshake era."""
    return request.param
