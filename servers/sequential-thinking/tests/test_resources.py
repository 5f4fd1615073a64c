"""Chains as resources: listed, completed, read and watched."""

import sys
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Change, Client, McpError, http, stdio
from mcp_server_core.testing import Revision, connect
from mcp_server_sequential_thinking.server import build
from mcp_server_sequential_thinking.shelf import Limits

from .talking import noted, serving

pytestmark = pytest.mark.anyio
TEMPLATE = {"type": "ref/resource", "uri": "thinking://chains/{id}"}


async def test_the_chains_of_a_connection_are_listed_and_completed(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        handle = (await noted(client, 1, "Find the\ncause"))["thinkingId"]
        (listed,) = await client.list_resources()
        assert (listed["uri"], listed["description"]) == (f"thinking://chains/{handle}", "1 thought")
        assert await client.complete(TEMPLATE, "id", handle[:3]) == [handle]
        assert await client.complete(TEMPLATE, "id", "1") == []


async def test_a_chain_reads_as_markdown(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        handle = (await noted(client, 1, "Hello"))["thinkingId"]
        (contents,) = await client.read_resource(f"thinking://chains/{handle}")
    assert contents["mimeType"] == "text/markdown"
    assert contents["text"].endswith("## Thought 1 of 5\n\n> Hello\n\n")


async def test_a_chain_that_is_not_there_is_not_found(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        await noted(client, 1)
        with pytest.raises(McpError, match="not found"):
            await client.read_resource("thinking://chains/aaaaaaaaaaaaaaaa")


async def test_whoever_watches_a_chain_hears_of_each_thought(revision: Revision) -> None:
    server = build()
    async with server.running(), connect(server, revision=revision) as thinker:
        handle = (await noted(thinker, 1))["thinkingId"]
        uri = f"thinking://chains/{handle}"
        async with connect(server, revision=revision) as reader, reader.watch(uri) as changes:
            for number in (2, 3):
                await noted(thinker, number, thinkingId=handle)
                with anyio.fail_after(5):
                    assert await anext(changes) == Change("updated", uri)
                (contents,) = await reader.read_resource(uri)
                assert f"Thought {number} of 5" in contents["text"]


async def test_whoever_watches_a_chain_hears_that_it_was_let_go(revision: Revision) -> None:
    async with connect(build(limits=Limits(chains=1)), revision=revision) as client:
        uri = f"thinking://chains/{(await noted(client, 1, nextThoughtNeeded=False))['thinkingId']}"
        async with client.watch(uri) as changes:
            await noted(client, 1)
            with anyio.fail_after(5):
                assert await anext(changes) == Change("updated", uri)
        with pytest.raises(McpError, match="not found"):
            await client.read_resource(uri)


async def test_a_new_chain_is_a_change_of_the_list(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client, client.watch(lists=["resources"]) as changes:
        handle = (await noted(client, 1))["thinkingId"]
        with anyio.fail_after(5):
            assert await anext(changes) == Change("resources", None)
        await noted(client, 2, thinkingId=handle, nextThoughtNeeded=False)
        await noted(client, 1)
        with anyio.fail_after(5):
            assert (await anext(changes)).kind == "resources"


async def test_thoughts_of_another_process_are_announced(revision: Revision, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    async with connect(build(store=store), revision=revision) as here:
        handle = (await noted(here, 1))["thinkingId"]
        uri = f"thinking://chains/{handle}"
        command = [sys.executable, "-m", "mcp_server_sequential_thinking", "--store", store]
        async with here.watch(uri) as changes, Client(stdio(command), revision=revision) as there:
            assert (await noted(there, 2, "from there", thinkingId=handle))["thoughtHistoryLength"] == 2
            with anyio.fail_after(10):
                assert await anext(changes) == Change("updated", uri)
        (contents,) = await here.read_resource(uri)
        assert "> from there" in contents["text"]


async def test_over_http_a_stateless_client_is_told_of_no_chain_and_a_session_only_of_its_own() -> None:
    with serving() as url:
        await _tell_apart(url)


async def _tell_apart(url: str) -> None:
    async with (
        Client(http(url), revision="2026-07-28") as alone,
        Client(http(url), revision="2025-11-25") as one,
        Client(http(url), revision="2025-11-25") as two,
    ):
        first = (await noted(alone, 1))["thinkingId"]
        mine = (await noted(one, 1))["thinkingId"]
        assert await alone.list_resources() == []
        assert await alone.complete(TEMPLATE, "id", first[:15]) == []
        assert await one.complete(TEMPLATE, "id", "") == [mine]
        assert await two.complete(TEMPLATE, "id", "") == []
        assert (await noted(one, 2))["thinkingId"] == mine
        assert (await noted(two, 1))["thinkingId"] != mine
        assert (await noted(alone, 2, thinkingId=first))["thoughtHistoryLength"] == 2
