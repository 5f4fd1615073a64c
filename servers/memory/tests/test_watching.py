"""Watching the memory: changes of this process and of others, in both eras."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_server_core import Change, Client, McpError, stdio
from mcp_server_core.testing import REVISIONS, Revision, connect
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio
GRAPH = "memory://knowledge-graph"
ADA = {"name": "Ada", "entityType": "person", "observations": []}


def serving(store: str) -> list[str]:
    return [sys.executable, "-m", "mcp_server_memory", "--store", store]


@asynccontextmanager
async def two_clients(store: str, revision: Revision | None = None) -> AsyncGenerator[tuple[Client, Client]]:
    """One client in this process, and one of another process on the same store."""
    async with (
        connect(build(store), revision=revision) as here,
        Client(stdio(serving(store))) as there,
    ):
        yield here, there


async def test_our_own_change_is_announced(revision: Revision, store: str, caller: Any) -> None:
    async with connect(build(store), revision=revision) as client, client.watch(GRAPH) as changes:
        await caller(client)("create_entities", entities=[ADA])
        with anyio.fail_after(5):
            assert await anext(changes) == Change("updated", GRAPH)


async def test_another_process_is_heard_within_a_second(revision: Revision, store: str, caller: Any) -> None:
    uri = "memory://entities/Ada%20%2F%20%C3%A9"
    name = "Ada / é"
    async with two_clients(store, revision) as (here, there):
        await caller(there)("read_graph")  # it has started
        async with here.watch(uri) as changes:
            await caller(there)("create_entities", entities=[{**ADA, "name": name}, ADA])
            with anyio.fail_after(1):
                assert await anext(changes) == Change("updated", uri)
            await caller(there)("add_observations", observations=[{"entityName": name, "contents": ["x"]}])
            with anyio.fail_after(1):
                assert await anext(changes) == Change("updated", uri)


@pytest.mark.parametrize("revision", [REVISIONS[0], REVISIONS[-1]])
async def test_only_what_is_watched_is_announced(revision: Revision, store: str, caller: Any) -> None:
    async with connect(build(store), revision=revision) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, {**ADA, "name": "Bob"}, {**ADA, "name": "Eve"}])
        async with client.watch("memory://entities/Ada") as changes:
            await call("add_observations", observations=[{"entityName": "Bob", "contents": ["x"]}])
            await call("create_relations", relations=[{"from": "Eve", "to": "Ada", "relationType": "sees"}])
            with anyio.fail_after(5):
                assert await anext(changes) == Change("updated", "memory://entities/Ada")
            with anyio.move_on_after(0.6) as waited:
                await anext(changes)
            assert waited.cancelled_caught  # one change, one notice


async def test_an_undo_is_announced_too(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA])
        async with client.watch("memory://entities/Ada") as changes:
            await call("undo")
            with anyio.fail_after(5):
                assert await anext(changes) == Change("updated", "memory://entities/Ada")


async def test_resources_hold_the_graph_and_each_entity(revision: Revision, store: str, caller: Any) -> None:
    async with connect(build(store), revision=revision) as client:
        await caller(client)("create_entities", entities=[ADA])
        (graph,) = await client.read_resource(GRAPH)
        (entity,) = await client.read_resource("memory://entities/Ada")
        assert json.loads(graph["text"]) == {"entities": [ADA], "relations": []}
        assert graph["mimeType"] == "application/json"
        (shown,) = json.loads(entity["text"])["entities"]
        assert shown["name"] == "Ada"
        assert "by mcp-server-core" in shown["created"]
        with pytest.raises(McpError, match="not found"):
            await client.read_resource("memory://entities/Nobody")


async def test_a_large_graph_as_a_resource_is_cut_and_says_how_to_go_on(store: str) -> None:
    entities = [{"name": f"e{n}", "entityType": "t", "observations": ["x" * 1000]} for n in range(300)]
    async with connect(build(store)) as client:
        await client.call_tool("create_entities", {"entities": entities})
        (graph,) = await client.read_resource(GRAPH)
    assert len(graph["text"]) <= 110_000
    shown = json.loads(graph["text"])
    assert shown["truncated"] is True
    assert "read_graph" in shown["next"]


async def test_names_are_completed_whatever_their_case_and_accents(
    revision: Revision, store: str, caller: Any
) -> None:
    async with connect(build(store), revision=revision) as client:
        names = ["Émile", "emily", "Bob"]
        await caller(client)("create_entities", entities=[{**ADA, "name": name} for name in names])
        await caller(client)("delete_entities", entityNames=["Bob"])
        template = {"type": "ref/resource", "uri": "memory://entities/{name}"}
        assert sorted(await client.complete(template, "name", "EMI")) == ["emily", "Émile"]
        assert await client.complete(template, "name", "b") == []
