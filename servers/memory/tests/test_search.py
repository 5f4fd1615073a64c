"""Finding things again: words, beginnings, phrases, parts, filters, and nothing that is taken for syntax."""

from contextlib import suppress
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_server_core.testing import connect
from mcp_server_memory import edits, pages
from mcp_server_memory.folding import fold
from mcp_server_memory.query import QueryError, parse_query
from mcp_server_memory.server import build
from mcp_server_memory.sqlite.database import Database, Job
from mcp_server_memory.store import Source

pytestmark = pytest.mark.anyio
PEOPLE: list[dict[str, Any]] = [
    {
        "name": "Ada Lovelace",
        "entityType": "person",
        "observations": ["wrote the first program", "lived in London"],
    },
    {
        "name": "Café Zürich",
        "entityType": "place",
        "observations": ["serves crème brûlée", "open until late"],
    },
    {
        "name": "mcp_server_memory",
        "entityType": "project",
        "observations": ["stores PostgreSQL tips", "uses C++"],
    },
    {"name": "東京タワー", "entityType": "place", "observations": ["東京都港区にある", "333 metres 🗼"]},
    {"name": "London", "entityType": "city", "observations": ["has a program of music"]},
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ada", ["Ada Lovelace"]),
        ("love", ["Ada Lovelace"]),
        ("first program", ["Ada Lovelace"]),
        ("lovelace london", ["Ada Lovelace"]),
        ("first london", ["Ada Lovelace"]),  # in two different observations
        ("london", ["London", "Ada Lovelace"]),  # the name weighs more
        ("program", ["London", "Ada Lovelace"]),
        ('"first program"', ["Ada Lovelace"]),
        ('"program first"', []),
        ("cafe zurich", ["Café Zürich"]),
        ("CREME", ["Café Zürich"]),
        ("cre\u0300me", ["Café Zürich"]),
        ("prog*", ["London", "Ada Lovelace"]),
        ("gresq", ["mcp_server_memory"]),
        ("server_mem", ["mcp_server_memory"]),
        ("c++", ["mcp_server_memory"]),
        ("東京", ["東京タワー"]),
        ("港区", ["東京タワー"]),
        ("🗼", ["東京タワー"]),
        ("type:place", ["Café Zürich", "東京タワー"]),
        ("TYPE:place", []),
        ("type:PLACE late", ["Café Zürich"]),
        ("since:1d london", ["London", "Ada Lovelace"]),
        ("before:1d london", []),
        ("before:2000-01-01", []),
        ("since:2000-01-01T00:00:00Z type:city", ["London"]),
        ("nothing of the kind", []),
        ("ada & lovelace", ["Ada Lovelace"]),
        ("+", ["mcp_server_memory"]),
    ],
)
async def test_a_query_finds(query: str, found: list[str], store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=PEOPLE)
        result = await call("search_nodes", query=query)
    assert [entity["name"] for entity in result["entities"]] == found


async def test_an_empty_query_lists_everything(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=PEOPLE)
        assert (await call("search_nodes", query=" "))["entities"] == PEOPLE


async def test_what_the_known_server_finds_is_found(store: str, caller: Any) -> None:
    """A part of a name, type or observation of three characters or more, in any case."""
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=PEOPLE)
        for entity in PEOPLE:
            for text in (entity["name"], entity["entityType"], *entity["observations"]):
                for at in range(0, len(text) - 6, 3):
                    part = text[at : at + 6].upper()
                    if '"' in part or not part.strip():
                        continue
                    names = [one["name"] for one in (await call("search_nodes", query=part))["entities"]]
                    assert entity["name"] in names, part


async def test_what_was_deleted_is_found_no_more_and_what_came_back_is(store: str, caller: Any) -> None:
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=PEOPLE)
        gone = [{"entityName": "Ada Lovelace", "observations": ["lived in London"]}]
        await call("delete_observations", deletions=gone)
        assert [one["name"] for one in (await call("search_nodes", query="london"))["entities"]] == ["London"]
        await call("delete_entities", entityNames=["London"])
        assert (await call("search_nodes", query="london"))["entities"] == []
        await call("undo")
        await call("undo")
        assert len((await call("search_nodes", query="london"))["entities"]) == 2


async def test_common_words_come_newest_first_and_in_pages_without_repetition(
    store: str, caller: Any
) -> None:
    entities = [{"name": f"n{n}", "entityType": "t", "observations": ["common"] * 1} for n in range(1500)]
    async with connect(build(store)) as client:
        call = caller(client)
        await client.call_tool("create_entities", {"entities": entities})
        names: list[str] = []
        cursor: dict[str, str] = {}
        while len(names) < 1500:
            page = await call("search_nodes", query="common", limit=400, **cursor)
            names += [entity["name"] for entity in page["entities"]]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
    assert names[0] == "n1499"
    assert sorted(names) == sorted(entity["name"] for entity in entities)


async def pages_of(call: Any, query: str, limit: int) -> list[str]:
    """The names of all pages of a search."""
    page = await call("search_nodes", query=query, limit=limit)
    names = [entity["name"] for entity in page["entities"]]
    while "nextCursor" in page:
        page = await call("search_nodes", query=query, limit=limit, cursor=page["nextCursor"])
        names += [entity["name"] for entity in page["entities"]]
    return names


async def test_beginnings_of_a_common_word_are_found_in_pages_without_repetition(
    store: str, caller: Any
) -> None:
    entities = [{"name": f"n{n}", "entityType": "t", "observations": ["commonly"]} for n in range(3000)]
    async with connect(build(store)) as client:
        call = caller(client)
        await client.call_tool("create_entities", {"entities": entities})
        names = await pages_of(call, "common", 1000)
    assert names[0] == "n2999"
    assert sorted(names) == sorted(entity["name"] for entity in entities)


async def test_the_rare_word_decides_and_then_the_name(store: str, caller: Any) -> None:
    """A word that stands in more facts than are ranked says nothing about any of them."""
    crowd = [{"name": f"item {n}", "entityType": "thing", "observations": []} for n in range(1200)]
    told = {"name": "item x", "entityType": "thing", "observations": ["about gold, gold and item 7"]}
    called = {"name": "item gold", "entityType": "thing", "observations": []}
    async with connect(build(store)) as client:
        call = caller(client)
        await client.call_tool("create_entities", {"entities": [*crowd, called, told]})
        assert await pages_of(call, "item gold", 20) == ["item gold", "item x"]
        assert await pages_of(call, "gold item", 20) == ["item gold", "item x"]


async def test_of_common_words_the_name_decides(store: str, caller: Any) -> None:
    crowd = [{"name": f"{n}", "entityType": "", "observations": ["red", "blue"]} for n in range(1200)]
    named = {"name": "red and blue", "entityType": "", "observations": []}
    told = {"name": "other", "entityType": "", "observations": ["blue and red"]}
    async with connect(build(store)) as client:
        call = caller(client)
        await client.call_tool("create_entities", {"entities": [*crowd, named, told]})
        page = await call("search_nodes", query="red blue")
    assert [entity["name"] for entity in page["entities"]][:2] == ["red and blue", "other"]


NASTY = [
    "'); DROP TABLE entity; --",
    '" OR name:* NEAR(a b, 3) ^x {name} : -y',
    "a AND NOT b OR (c",
    "\x00nul\x00inside",
    "line\nbreak\r\n\u2028sep\u2029",
    "\u202eright to left\u202c",
    "type:person since:never",
    "%_\\ ESCAPE",
    "🏳️\u200d🌈 \U0001d518\U0001d52b\U0001d526 \ufb01n",
    "<script>alert(1)</script> [x](y) `z`",
]


@pytest.mark.parametrize("text", NASTY)
async def test_hostile_text_is_stored_and_found_as_data(text: str, store: str, caller: Any) -> None:
    entity = {"name": text, "entityType": text, "observations": [text]}
    relation = {"from": text, "to": text, "relationType": text}
    async with connect(build(store)) as client:
        call = caller(client)
        await call("create_entities", entities=[entity, PEOPLE[0]])
        await call("create_relations", relations=[relation])
        graph = {"entities": [entity], "relations": [relation]}
        assert await call("open_nodes", names=[text]) == graph
        assert await call("search_nodes", query=f'"{text}"' if '"' not in text else "near") == graph
        assert (await call("delete_observations", deletions=[{"entityName": text, "observations": [text]}]))[
            "message"
        ] == "Deleted 1 observations."
        await call("delete_entities", entityNames=[text])
        assert (await call("read_graph"))["entities"] == [PEOPLE[0]]


async def test_names_that_differ_only_by_normalisation_are_different_and_both_found(
    store: str, caller: Any
) -> None:
    names = ["Caf\u00e9", "Cafe\u0301", "cafe", "\uff23\uff21\uff26\uff25"]
    async with connect(build(store)) as client:
        call = caller(client)
        entities = [{"name": name, "entityType": "t", "observations": []} for name in names]
        assert len((await call("create_entities", entities=entities))["entities"]) == 4
        for name in names:
            found = await call("search_nodes", query=name)
            assert {entity["name"] for entity in found["entities"]} == set(names)
            assert (await call("open_nodes", names=[name]))["entities"][0]["name"] == name


@given(st.text(max_size=300))
def test_any_text_is_a_query_or_is_told_why_not(text: str) -> None:
    if "since:" in text or "before:" in text:
        with suppress(QueryError):
            parse_query(text)
    else:
        assert all(term.text for term in parse_query(text).terms)


@given(st.text(max_size=200))
def test_folding_is_stable(text: str) -> None:
    assert fold(fold(text)) == fold(text)


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=TEXTS, fact=TEXTS, query=TEXTS)
def test_any_text_goes_in_and_any_query_is_answered(tmp_path: Any, name: str, fact: str, query: str) -> None:
    database = Database(str(tmp_path / "fuzz.sqlite3"))
    try:
        entity: Any = {"name": name, "entityType": fact, "observations": [fact]}
        (outcome,) = database.write([Job(partial(edits.create_entities, [entity]), Source("t", "t"))])
        assert outcome.error is None
        bounds = pages.Bounds(100_000, 1000)
        with suppress(QueryError):
            database.read(partial(pages.find, query=parse_query(query), bounds=bounds, start=None))
        page = database.read(partial(pages.open_names, names=[name], bounds=bounds, start=None, details=True))
        assert page.entities[0]["name"] == name
    finally:
        database.close()
