"""What the operator lets through: --read-only, --tools, --no-tools."""

import pytest
from mcp_server_core import Registry, Server
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.server.catalogue import Selection

from .talking import connect, serving, talk, text_of

pytestmark = pytest.mark.anyio


def notes(selection: Selection) -> Server[None]:
    part = Registry()

    @part.tool("Read", read_only=True, open_world=False)
    async def read() -> str:
        """Read."""
        return "read"

    @part.tool("Write", destructive=False, idempotent=True, open_world=False)
    async def write() -> str:
        """Write."""
        return "written"

    @part.tool("Delete", destructive=True, idempotent=True, open_world=False)
    async def delete() -> str:
        """Delete."""
        return "deleted"

    part.tool("Old", read_only=True, open_world=False, name="old_read", listed=False)(read)
    server = serving(part)
    server.select(selection)
    return server


@pytest.mark.parametrize(
    ("selection", "names"),
    [
        (Selection(), ["read", "write", "delete"]),
        (Selection(read_only=True), ["read"]),
        (Selection(only=["write", "read"]), ["read", "write"]),
        (Selection(without=["delete"]), ["read", "write"]),
        (Selection(only=["read", "delete"], without=["delete"]), ["read"]),
        (Selection(read_only=True, only=["read", "delete"]), ["read"]),
    ],
)
async def test_only_what_was_selected_is_listed(
    selection: Selection, names: list[str], revision: Revision
) -> None:
    async with connect(notes(selection), revision=revision) as client:
        assert [tool["name"] for tool in await client.list_tools()] == names


@pytest.mark.parametrize(
    "selection", [Selection(read_only=True), Selection(only=["read"]), Selection(without=["delete"])]
)
async def test_a_call_of_what_was_not_selected_is_refused(selection: Selection, revision: Revision) -> None:
    async with talk(notes(selection), revision) as peer:
        assert (await peer.error("tools/call", {"name": "delete"}))["code"] == -32602


async def test_read_only_keeps_unlisted_tools_that_only_read() -> None:
    async with connect(notes(Selection(read_only=True))) as client:
        assert text_of(await client.call_tool("old_read")) == "read"


@pytest.mark.parametrize("selection", [Selection(only=["raed"]), Selection(without=["read", "raed"])])
def test_a_misspelt_name_is_refused_with_the_names_there_are(selection: Selection) -> None:
    with pytest.raises(ValueError, match=r"raed; there are: read, write, delete"):
        notes(selection)


async def test_a_server_left_without_tools_does_not_claim_to_have_any(revision: Revision) -> None:
    async with talk(notes(Selection(only=[])), revision) as peer:
        assert (await peer.error("tools/list"))["code"] == -32601


async def test_a_part_that_comes_later_is_selected_too() -> None:
    server = notes(Selection(read_only=True))
    part = Registry()

    @part.tool("Drop", destructive=True, idempotent=True, open_world=False)
    async def drop() -> None:
        """Drop."""

    await server.add(part)
    async with connect(server) as client:
        assert [tool["name"] for tool in await client.list_tools()] == ["read"]
