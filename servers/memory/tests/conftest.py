"""What the tests share: a store of their own, and calls that fail when the tool does."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from mcp_server_core import Client
from mcp_server_core.testing import REVISIONS, Revision

Call: TypeAlias = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> Revision:
    return request.param


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "memory.sqlite3")


@pytest.fixture
def caller() -> Callable[[Client], Call]:
    """Turns a client into a function that calls tools and gives their structured half."""

    def bind(client: Client) -> Call:
        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.get("isError"), result["content"]
            return result.get("structuredContent") or {"text": result["content"][0]["text"]}

        return call

    return bind


@pytest.fixture
def refusal() -> Callable[..., Awaitable[str]]:
    """The sentence with which a tool refuses."""

    async def call(client: Client, tool: str, **arguments: Any) -> str:
        result = await client.call_tool(tool, arguments)
        assert result.get("isError"), result
        return result["content"][0]["text"]

    return call
