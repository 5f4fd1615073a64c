"""Taking changes back, and what is refused so that nothing is lost on the way."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from mcp_server_core.testing import connect
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio


def thing(name: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": "thing", "observations": list(observations)}


def tie(source: str, target: str) -> dict[str, str]:
    return {"from": source, "to": target, "relationType": "likes"}


async def test_undo_goes_back_step_by_step_to_the_beginning(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        states: list[Any] = [await call("read_graph")]
        steps: list[tuple[str, dict[str, Any]]] = [
            ("create_entities", {"entities": [thing("a", "1", "2"), thing("b")]}),
            ("create_relations", {"relations": [tie("a", "b"), tie("b", "a")]}),
            ("add_observations", {"observations": [{"entityName": "b", "contents": ["3"]}]}),
            ("delete_observations", {"deletions": [{"entityName": "a", "observations": ["1"]}]}),
            ("delete_relations", {"relations": [tie("b", "a")]}),
            ("delete_entities", {"entityNames": ["a"]}),
        ]
        for tool, arguments in steps:
            await call(tool, **arguments)
            states.append(await call("read_graph"))
        for state in reversed(states[:-1]):
            await call("undo")
            assert await call("read_graph") == state
        assert await refusal(client, "undo") == "There is nothing to undo."


async def test_an_undo_can_be_undone_again_and_again(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a", "1")])
        full = await call("read_graph")
        last = 1
        for round in range(6):
            said = (await call("undo", change=last))["text"]
            last = int(said.rsplit("change ", 1)[1].rstrip("."))
            expected = full if round % 2 else {"entities": [], "relations": []}
            assert await call("read_graph") == expected


async def test_what_others_added_to_is_not_taken_away(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a")])
        await call("add_observations", observations=[{"entityName": "a", "contents": ["later"]}])
        said = await refusal(client, "undo", change=1)
        assert "Undo change 2 first" in said
        assert (await call("read_graph"))["entities"] == [thing("a", "later")]


async def test_a_name_that_was_taken_again_is_not_doubled(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a", "old")])
        await call("delete_entities", entityNames=["a"])
        await call("create_entities", entities=[thing("a", "new")])
        assert "Undo change 3 first" in await refusal(client, "undo", change=2)
        await call("undo", change=3)
        await call("undo", change=2)
        assert (await call("read_graph"))["entities"] == [thing("a", "old")]


async def test_a_relation_between_two_deleted_entities_returns_with_the_second(
    store: str, caller: Any
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a"), thing("b")])
        await call("create_relations", relations=[tie("a", "b")])
        before = await call("read_graph")
        await call("delete_entities", entityNames=["a"])
        await call("delete_entities", entityNames=["b"])
        await call("undo", change=3)
        assert await call("read_graph") == {"entities": [thing("a")], "relations": []}
        await call("undo", change=4)
        assert await call("read_graph") == before


async def test_what_was_said_again_is_not_doubled_by_undoing_its_deletion(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a", "x")])
        await call("delete_observations", deletions=[{"entityName": "a", "observations": ["x"]}])
        await call("add_observations", observations=[{"entityName": "a", "contents": ["x"]}])
        await call("undo", change=2)
        assert (await call("read_graph"))["entities"] == [thing("a", "x")]


async def test_changes_that_do_not_exist_or_are_gone_are_refused(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        await caller(client)("create_entities", entities=[thing("a")])
        assert "no change 99" in await refusal(client, "undo", change=99)
        assert "There is no change 1000" in await refusal(client, "undo", change=10**30)
        await caller(client)("undo", change=1)
        assert "taken back already, by change 2" in await refusal(client, "undo", change=1)


async def test_a_deleted_entity_is_named_with_the_change_that_brings_it_back(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[thing("a", "1")])
        await call("delete_entities", entityNames=["a"])
        notice = (await call("open_nodes", names=["a"]))["notice"]
        assert notice.startswith("Not found: 'a', deleted at 20")
        assert notice.endswith("undo with change 2 brings it back.")
