"""What all tests of this server share."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from mcp_server_core.testing import REVISIONS, Revision


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


@pytest.fixture(params=[revision for revision in REVISIONS if revision != "2026-07-28"])
def handshake(request: pytest.FixtureRequest) -> Revision:
    """A revision that has sessions."""
    return request.param


@pytest.fixture
def serving() -> Iterator[str]:
    """The URL of a server that runs over HTTP."""
    command = [sys.executable, "-m", "mcp_server_sequential_thinking", "--transport", "http", "--port", "0"]
    server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        announced = server.stderr.readline()
        assert " serves MCP at " in announced, announced
        yield announced.split()[-1]
    finally:
        server.kill()
        server.communicate()
