"""The known tools, with known arguments, results and meaning, as a client sees them."""

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.testing import Revision, connect
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio
ADA = {"name": "Ada", "entityType": "person", "observations": ["likes maths", "lives in London"]}
ENGINE = {"name": "Engine", "entityType": "machine", "observations": []}
BUILDS = {"from": "Ada", "to": "Engine", "relationType": "builds"}


async def test_what_was_stored_is_read_back_in_every_revision(
    revision: Revision, store: str, caller: Any
) -> None:
    async with connect(build(store), revision=revision) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("create_relations", relations=[BUILDS])
        result = await client.call_tool("read_graph")
    graph = {"entities": [ADA, ENGINE], "relations": [BUILDS]}
    assert json.loads(result["content"][0]["text"]) == graph  # each half is enough alone
    if revision >= "2025-06-18":
        assert result["structuredContent"] == graph


async def test_an_entity_that_exists_is_left_alone_and_reported(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        assert await call("create_entities", entities=[ADA]) == {"entities": [ADA], "change": 1}
        again = {**ADA, "entityType": "cat", "observations": ["new"]}
        assert await call("create_entities", entities=[again, ENGINE, ENGINE]) == {
            "entities": [ENGINE],
            "ignored": ["Ada", "Engine"],
            "change": 2,
        }
        assert (await call("open_nodes", names=["Ada"]))["entities"] == [ADA]


async def test_known_observations_and_relations_are_ignored(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        added = await call(
            "add_observations",
            observations=[{"entityName": "Ada", "contents": ["likes maths", "new", "new"]}],
        )
        assert added["results"] == [{"entityName": "Ada", "addedObservations": ["new"]}]
        assert added["ignored"] == ["Ada: likes maths", "Ada: new"]
        assert (await call("create_relations", relations=[BUILDS, BUILDS]))["relations"] == [BUILDS]
        assert await call("create_relations", relations=[BUILDS]) == {
            "relations": [],
            "ignored": ["Ada builds Engine"],
        }


async def test_relations_and_observations_of_unknown_entities_are_refused_as_a_whole(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        dangling = {"from": "ada", "to": "Nobody", "relationType": "knows"}
        said = await refusal(client, "create_relations", relations=[BUILDS, dangling])
        assert said == (
            "Unknown entity: 'ada' (there is 'Ada'); 'Nobody'. Nothing was changed. "
            "Create it first with create_entities."
        )
        additions = [{"entityName": name, "contents": ["x"]} for name in ("Ada", "Nobody")]
        assert "'Nobody'" in await refusal(client, "add_observations", observations=additions)
        assert await call("read_graph") == {"entities": [ADA, ENGINE], "relations": []}


async def test_deleting_an_entity_takes_its_relations_along(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("create_relations", relations=[BUILDS, {**BUILDS, "from": "Engine", "to": "Ada"}])
        done = await call("delete_entities", entityNames=["Ada", "Nobody"])
        assert done == {
            "success": True,
            "message": "Deleted 1 entities, 2 observations, 2 relations. Not found: 'Nobody'.",
            "change": 3,
        }
        assert await call("read_graph") == {"entities": [ENGINE], "relations": []}
        assert await call("delete_entities", entityNames=["Ada"]) == {
            "success": True,
            "message": "Nothing to delete. Not found: 'Ada'.",
        }


async def test_observations_and_relations_are_deleted_one_by_one(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("create_relations", relations=[BUILDS])
        gone = [{"entityName": "Ada", "observations": ["likes maths", "never said"]}]
        assert (
            "Not found: 'Ada: never said'" in (await call("delete_observations", deletions=gone))["message"]
        )
        await call("delete_relations", relations=[BUILDS])
        left = {**ADA, "observations": ["lives in London"]}
        assert await call("read_graph") == {"entities": [left, ENGINE], "relations": []}


async def test_a_re_created_entity_stands_at_the_end_as_a_new_one(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("delete_entities", entityNames=["Ada"])
        await call("create_entities", entities=[{**ADA, "observations": ["anew"]}])
        assert (await call("read_graph"))["entities"] == [ENGINE, {**ADA, "observations": ["anew"]}]


async def test_opening_gives_relations_of_either_direction_and_names_what_is_missing(
    store: str, caller: Any
) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("create_relations", relations=[BUILDS])
        assert await call("open_nodes", names=["Engine", "ADA"]) == {
            "entities": [ENGINE],
            "relations": [BUILDS],
            "notice": "Not found: 'ADA'; there is 'Ada'.",
        }


async def test_time_and_source_of_each_fact_are_shown_on_request(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA])
        await call("delete_observations", deletions=[{"entityName": "Ada", "observations": ["likes maths"]}])
        (entity,) = (await call("open_nodes", names=["Ada"], details=True))["entities"]
    stamp = r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z by mcp-server-core \(change "
    assert entity["observations"] == ["lives in London"]
    assert re.fullmatch(stamp + r"1\)", entity["created"])
    assert [re.fullmatch(stamp + r"1\)", line) is not None for line in entity["learned"]] == [True]
    (removed,) = entity["removed"]
    assert re.fullmatch(r"likes maths \[learned " + stamp + r"1\), removed " + stamp + r"2\)\]", removed)


@pytest.mark.parametrize("budget", [3_000, 100_000])
async def test_details_fit_into_pages_too(store: str, caller: Any, budget: int) -> None:
    texts = [f"observation number {n}" for n in range(400)]
    server = build(store)
    server.max_result_chars = budget
    async with connect(server) as client:
        call = caller(client)
        await call("create_entities", entities=[{**ADA, "observations": texts}])
        await call("delete_observations", deletions=[{"entityName": "Ada", "observations": texts[::2]}])
        seen: list[str] = []
        removed: list[list[str]] = []
        cursor: dict[str, str] = {}
        while True:
            result = await client.call_tool("open_nodes", {"names": ["Ada"], "details": True, **cursor})
            assert len(result["content"][0]["text"]) <= min(budget, 42_000)
            (entity,) = result["structuredContent"]["entities"]
            assert len(entity["learned"]) == len(entity["observations"])
            assert entity["created"].startswith("20")
            seen += entity["observations"]
            removed += [entity["removed"]] if "removed" in entity else []
            if "nextCursor" not in result["structuredContent"]:
                break
            cursor = {"cursor": result["structuredContent"]["nextCursor"]}
    assert seen == texts[1::2]
    (once,) = removed  # on the first page
    assert once[0].startswith("observation number 398 [learned 20")


async def test_a_long_list_that_was_stored_is_said_back_in_short(store: str, caller: Any) -> None:
    texts = [f"observation number {n}" for n in range(10_000)]
    async with connect(build(store)) as client:
        made = await caller(client)("create_entities", entities=[{**ADA, "observations": texts}, ENGINE])
    assert made["truncated"] is True
    assert made["entities"] == [{**ADA, "observations": [*texts[:5], "... [9995 more]"]}, ENGINE]


async def test_neighbors_come_by_distance_and_stop_at_the_asked_hops(store: str, caller: Any) -> None:
    names = ["a", "b", "c", "d", "far"]
    chain = [{"from": one, "to": two, "relationType": "next"} for one, two in pairwise(names)]
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[{**ENGINE, "name": name} for name in names])
        await call("create_relations", relations=chain)
        near = await call("neighbors", names=["c"], hops=1)
        assert [entity["name"] for entity in near["entities"]] == ["c", "b", "d"]
        assert near["relations"] == chain[0:4]
        assert len((await call("neighbors", names=["c"], hops=2))["entities"]) == 5


async def read_pages(call: Any, tool: str, **arguments: Any) -> list[dict[str, Any]]:
    pages: list[dict[str, Any]] = []
    while True:
        pages.append(await call(tool, **arguments))
        if "nextCursor" not in pages[-1]:
            assert "truncated" not in pages[-1]
            return pages
        assert pages[-1]["truncated"] is True
        arguments["cursor"] = pages[-1]["nextCursor"]


async def test_pages_of_the_graph_together_are_the_graph(store: str, caller: Any) -> None:
    entities = [
        {"name": f"e{n}", "entityType": "t", "observations": [f"fact {n}" * 9] * 1} for n in range(25)
    ]
    relations = [{"from": f"e{n}", "to": f"e{(n * 7) % 25}", "relationType": "r"} for n in range(25)]
    server = build(store)
    server.max_result_chars = 1500
    async with connect(server) as client:
        call = caller(client)
        await call("create_entities", entities=entities)
        await call("create_relations", relations=relations)
        for limit in (3, 1000):
            pages = await read_pages(call, "read_graph", limit=limit)
            assert len(pages) > 3
            assert [one for page in pages for one in page["entities"]] == entities
            assert [one for page in pages for one in page["relations"]] == relations


@pytest.mark.parametrize("budget", [1200, 5000, 100_000])
async def test_a_megabyte_is_stored_and_can_be_read_in_full(store: str, caller: Any, budget: int) -> None:
    long = '0123456789\n"\x01é😀' * 3_000 if budget == 1200 else '0123456789\n"\x01é😀' * 70_000
    server = build(store)
    server.max_result_chars = budget
    async with connect(server) as client:
        call = caller(client)
        made = await call("create_entities", entities=[{**ADA, "observations": ["short", long, "last"]}])
        assert made["truncated"] is True
        pieces: list[str] = []
        for page in await read_pages(call, "open_nodes", names=["Ada"]):
            assert len(json.dumps(page, ensure_ascii=False)) <= budget
            pieces += page["entities"][0]["observations"]
    assert (pieces[0], pieces[-1]) == ("short", "last")
    text = "".join(re.sub(r" \[characters \d+ to \d+ of \d+\]$", "", piece) for piece in pieces[1:-1])
    assert text == long


async def test_a_hub_with_many_relations_is_read_in_pages(store: str, caller: Any) -> None:
    spokes = [f"spoke {n}" for n in range(300)]
    relations = [{"from": "hub", "to": name, "relationType": "has"} for name in spokes]
    server = build(store)
    server.max_result_chars = 2000
    async with connect(server) as client:
        call = caller(client)
        await call("create_entities", entities=[{**ENGINE, "name": name} for name in ["hub", *spokes]])
        made = await call("create_relations", relations=relations)
        assert made["truncated"] is True  # the answer, not what is stored
        pages = await read_pages(call, "open_nodes", names=["hub"])
    assert [one for page in pages for one in page["relations"]] == relations


@pytest.mark.parametrize("cursor", ["", "x", "WyJyZWFkIixbMSwyXV0", "bm90IG91cnM"])
async def test_a_cursor_that_is_not_ours_is_refused(
    store: str, cursor: str, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        assert "cursor" in await refusal(client, "search_nodes", query="x", cursor=cursor)


async def test_numbers_may_come_as_text_and_wrong_ones_are_explained(
    store: str, caller: Any, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        await caller(client)("read_graph", limit="5")
        assert "`limit`" in await refusal(client, "read_graph", limit=0)
        assert "`entities.0.entityType`" in await refusal(client, "create_entities", entities=[{"name": "x"}])


async def test_a_name_without_end_is_refused_and_an_empty_one_too(
    store: str, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        assert "more than 2000" in await refusal(
            client, "create_entities", entities=[{**ADA, "name": "x" * 3000}]
        )
        assert "empty" in await refusal(client, "create_entities", entities=[{**ADA, "name": ""}])


# --- hints -------------------------------------------------------------------------------------------------------

ARGUMENTS: dict[str, dict[str, Any]] = {
    "create_entities": {"entities": [{"name": "New", "entityType": "t", "observations": ["o"]}]},
    "create_relations": {"relations": [{"from": "Ada", "to": "Engine", "relationType": "likes"}]},
    "add_observations": {"observations": [{"entityName": "Ada", "contents": ["another"]}]},
    "delete_entities": {"entityNames": ["Ada"]},
    "delete_observations": {"deletions": [{"entityName": "Ada", "observations": ["likes maths"]}]},
    "delete_relations": {"relations": [BUILDS]},
    "undo": {},
    "read_graph": {},
    "search_nodes": {"query": "ada"},
    "open_nodes": {"names": ["Ada"], "details": True},
    "neighbors": {"names": ["Ada"]},
    "export_graph": {"path": "out.jsonl", "overwrite": True},
    "import_graph": {"path": "in.jsonl"},
}


async def snapshot(client: Client, folder: Path) -> tuple[set[str], int]:
    """Every fact and every byte in the folder, and how many changes the store has seen."""
    graph = (await client.call_tool("read_graph"))["structuredContent"]
    facts = {
        f"{entity['name']}: {fact}" for entity in graph["entities"] for fact in ("", *entity["observations"])
    }
    facts |= {json.dumps(relation) for relation in graph["relations"]}
    return facts | on_disk(folder), changes_in(folder.parent / "memory.sqlite3")


def on_disk(folder: Path) -> set[str]:
    return {f"{path.name} {path.read_bytes()!r}" for path in folder.iterdir()}


def changes_in(store: Path) -> int:
    with closing(sqlite3.connect(store)) as look:
        return look.execute("SELECT count(*) FROM change").fetchone()[0]


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_the_hints_of_a_tool_are_true(tool: str, tmp_path: Path, store: str, caller: Any) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    line = '{"type":"entity","name":"Imported","entityType":"t","observations":[]}'
    (folder / "in.jsonl").write_text(line)
    (folder / "out.jsonl").write_text("something else")
    async with connect(build(store, [str(folder)])) as client:
        call = caller(client)
        await call("create_entities", entities=[ADA, ENGINE])
        await call("create_relations", relations=[BUILDS])
        (hints,) = [one["annotations"] for one in await client.list_tools() if one["name"] == tool]
        before = await snapshot(client, folder)
        await call(tool, **ARGUMENTS[tool])
        once = await snapshot(client, folder)
        await call(tool, **ARGUMENTS[tool])
        twice = await snapshot(client, folder)
    assert (once == before) is hints["readOnlyHint"]
    assert (twice == once) is hints["idempotentHint"]
    assert (before[0] <= once[0]) is not hints["destructiveHint"]
    assert hints["openWorldHint"] is False


async def test_every_tool_has_its_hints_tried(store: str) -> None:
    async with connect(build(store)) as client:
        assert {tool["name"] for tool in await client.list_tools()} == ARGUMENTS.keys()


async def test_more_names_than_anybody_needs_are_refused(
    store: str, refusal: Callable[..., Awaitable[str]]
) -> None:
    async with connect(build(store)) as client:
        assert "at most 1000" in await refusal(client, "open_nodes", names=["x"] * 1001)


async def test_read_only_leaves_the_reading_tools(store: str) -> None:
    command = [sys.executable, "-m", "mcp_server_memory", "--store", store, "--read-only"]
    async with Client(stdio(command)) as client:
        names = [tool["name"] for tool in await client.list_tools()]
    assert names == ["read_graph", "search_nodes", "open_nodes", "neighbors"]


def test_nothing_heavy_is_loaded_before_the_first_answer() -> None:
    code = (
        "import sys; from mcp_server_memory.__main__ import main; from mcp_server_memory.server import build; build(); "
        "print([name for name in ('sqlite3', 'json', 'pathlib', 'urllib', 'shutil', 'platformdirs', 'pydantic', "
        "'mcp_server_core.places') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
