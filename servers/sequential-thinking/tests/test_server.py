"""The server as a client sees it."""

import pytest
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_sequential_thinking.server import build

pytestmark = pytest.mark.anyio


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


async def test_it_says_who_it_is(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        assert client.server["name"] == "mcp-server-sequential-thinking"


async def test_its_tool_says_what_this_version_can_do(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        result = await client.call_tool("about")
        assert "mcp-server-sequential-thinking" in result["content"][0]["text"]
