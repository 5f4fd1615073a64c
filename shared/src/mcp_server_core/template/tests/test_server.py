"""The server as a client sees it, in every revision of the protocol."""

from pathlib import Path

import anyio
import pytest
from mcp_server_core import Answers, Change, McpError
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_starter.server import build

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("revision", REVISIONS)]


async def test_things_are_counted(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        await client.call_tool("count", {"name": "birds", "by": "2"})
        result = await client.call_tool("count", {"name": "birds"})
    assert result["content"][0]["text"] == '{"name":"birds","count":3}'


async def test_what_was_never_counted_is_refused_in_words(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        result = await client.call_tool("how_many", {"name": "cats"})
        with pytest.raises(McpError, match="not found"):
            await client.read_resource("starter://things/cats")
    assert result["isError"] is True
    assert "never counted" in result["content"][0]["text"]


async def test_whoever_watches_a_count_hears_of_it(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        await client.call_tool("count", {"name": "birds"})
        async with client.watch("starter://things/birds") as changes:
            await client.call_tool("count", {"name": "birds"})
            with anyio.fail_after(5):
                assert await anext(changes) == Change("updated", "starter://things/birds")
        (contents,) = await client.read_resource("starter://things/birds")
    assert contents["text"] == "2"


async def test_what_was_counted_is_listed_and_completed(revision: Revision) -> None:
    template = {"type": "ref/resource", "uri": "starter://things/{name}"}
    async with connect(build(), revision=revision) as client, client.watch(lists=["resources"]) as changes:
        await client.call_tool("count", {"name": "birds"})
        with anyio.fail_after(5):
            assert await anext(changes) == Change("resources", None)
        (listed,) = await client.list_resources()
        assert await client.complete(template, "name", "b") == ["birds"]
    assert listed["uri"] == "starter://things/birds"


async def test_the_tally_goes_into_a_root_and_nowhere_else(revision: Revision, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    async with connect(build(), revision=revision, answers=Answers(roots=[root.as_uri()])) as client:
        await client.call_tool("count", {"name": "birds"})
        await client.call_tool("export_tally", {"path": "tally.md"})
        refused = await client.call_tool("export_tally", {"path": str(tmp_path / "tally.md")})
    assert "| birds | 1 |" in (root / "tally.md").read_text("utf-8")
    assert refused["isError"] is True
    assert not (tmp_path / "tally.md").exists()


async def test_the_prompt_carries_the_text(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        got = await client.get_prompt("count_in_text", {"text": "Two birds."})
    assert "Two birds." in got["messages"][0]["content"]["text"]
