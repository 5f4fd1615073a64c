"""A directory that the server may use, and a client in the same process."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Client
from mcp_server_core.testing import connect
from mcp_server_filesystem.server import build


class Desk:
    """A client that says what it wants in one line."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def result(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return await self.client.call_tool(tool, arguments)

    async def blocks(self, tool: str, **arguments: Any) -> list[str]:
        """The texts of a result that is no error."""
        result = await self.result(tool, **arguments)
        assert not result.get("isError"), result
        return [block["text"] for block in result["content"]]

    async def text(self, tool: str, **arguments: Any) -> str:
        """The first text of a result that is no error."""
        return (await self.blocks(tool, **arguments))[0]

    async def refusal(self, tool: str, **arguments: Any) -> str:
        """The text of a result that is an error."""
        result = await self.result(tool, **arguments)
        assert result.get("isError"), result
        return result["content"][0]["text"]


@asynccontextmanager
async def desk_at(
    *directories: Path | str, max_chars: int | None = None, **options: Any
) -> AsyncGenerator[Desk]:
    server = build([str(directory) for directory in directories], **options)
    if max_chars is not None:
        server.max_result_chars = max_chars
    async with connect(server) as client:
        yield Desk(client)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The directory that is allowed; what lies beside it is not."""
    made = tmp_path / "root"
    made.mkdir()
    return made


def contents(directory: Path) -> dict[str, bytes | str | None]:
    """Everything in a directory: the bytes of files, the targets of links, None for directories."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(directory.rglob("*")):
        name = str(path.relative_to(directory))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def names(directory: Path) -> list[str]:
    """What is in a directory."""
    return sorted(path.name for path in directory.iterdir())
