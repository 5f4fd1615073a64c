"""What all tests of this server share."""

import pytest
from mcp_server_core.testing import REVISIONS, Revision


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


@pytest.fixture(params=[revision for revision in REVISIONS if revision != "2026-07-28"])
def handshake(request: pytest.FixtureRequest) -> Revision:
    """A revision that has sessions."""
    return request.param
