"""The server as a client sees it: its list, its hints, its resources, its prompt."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Client, McpError
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.server import build

from .asking import ask, call, change, dump, text

pytestmark = pytest.mark.anyio

README = Path(__file__).parents[1] / "README.md"

CALLS: dict[str, dict[str, Any]] = {
    "read_query": {"query": "SELECT * FROM customers"},
    "write_query": {"query": "UPDATE orders SET total = total + 1 WHERE id = 1"},
    "create_table": {"query": "CREATE TABLE added (a)"},
    "preview_write": {"query": "DELETE FROM orders"},
    "explain_query": {"query": "SELECT * FROM orders"},
    "list_tables": {},
    "describe_table": {"table_name": "orders"},
    "schema_overview": {},
    "append_insight": {"insight": "x"},
}


async def test_it_says_who_it_is(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        assert client.server["name"] == "mcp-server-sqlite"


async def test_the_readme_says_what_the_list_costs() -> None:
    async with connect(build()) as client:
        listed = json.dumps({"tools": await client.list_tools()}, separators=(",", ":"))
    (figure,) = re.findall(r"([\d,]+) bytes of JSON", README.read_text(encoding="utf-8"))
    assert int(figure.replace(",", "")) == len(listed)
    assert len(listed) < 4200


async def test_every_tool_does_what_its_hints_say(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        listed = {tool["name"]: tool for tool in await client.list_tools()}
        assert listed.keys() == CALLS.keys()
        for name, arguments in CALLS.items():
            hints = listed[name]["annotations"]
            before = await _state(client, shop)
            assert not (await client.call_tool(name, arguments)).get("isError"), name
            after = await _state(client, shop)
            assert listed[name]["title"]
            assert hints["readOnlyHint"] is (before == after), name
            if not hints["readOnlyHint"]:
                kept = set(before.splitlines()) <= set(after.splitlines())
                assert hints["destructiveHint"] is (not kept), name
            again = await client.call_tool(name, arguments)
            changed = again.get("isError") or await _state(client, shop) != after
            assert hints["idempotentHint"] is (not changed), name
            assert hints["openWorldHint"] is False


async def _state(client: Client, shop: Path) -> str:
    (memo,) = await client.read_resource("memo://insights")
    return dump(shop).replace("COMMIT;", "") + memo["text"].replace("None yet: append_insight adds one.", "")


async def test_a_table_is_described_from_every_side(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        found = await call(client, "describe_table", table_name="ORDERS")
    assert found == {
        "name": "orders",
        "type": "table",
        "columns": [
            {"name": "id", "type": "INTEGER", "notnull": False, "default": None, "pk": 1},
            {"name": "customer", "type": "INTEGER", "notnull": True, "default": None, "pk": 0},
            {"name": "total", "type": "REAL", "notnull": False, "default": None, "pk": 0},
        ],
        "foreign_keys": [{"columns": ["customer"], "table": "customers", "to": ["id"]}],
        "indexes": [{"name": "orders_by_customer", "columns": ["customer"], "unique": False}],
        "rows": 3,
        "sql": ask(shop, "SELECT sql FROM sqlite_master WHERE name = 'orders'")[0][0],
    }


async def test_a_table_of_two_thousand_columns_is_described_as_far_as_it_fits(shop: Path) -> None:
    change(shop, f"CREATE TABLE wide ({', '.join(f'column_{at} INTEGER' for at in range(2000))})")
    async with connect(build([str(shop)])) as client:
        result = await client.call_tool("describe_table", {"table_name": "wide"})
        found = await call(client, "describe_table", table_name="wide")
        rest = await call(
            client,
            "read_query",
            query=found["truncated"].partition("read_query ")[2],
            params=["wide"],
            limit=2000,
        )
    assert len(result["content"][0]["text"]) <= 100_000
    assert 500 < len(found["columns"]) < 2000
    assert len(rest["rows"]) == 2000


@pytest.mark.parametrize(
    "name",
    [
        "orders'); DROP TABLE orders; --",
        "",
        "sqlite_master",
        "main.orders",
        "nothing",
        'orders"',
        "orders; --",
    ],
)
async def test_a_name_is_looked_up_and_never_part_of_a_statement(name: str, shop: Path) -> None:
    before = dump(shop)
    async with connect(build([str(shop)])) as client:
        result = await client.call_tool("describe_table", {"table_name": name})
    assert result["isError"]
    assert "customers, orders" in result["content"][0]["text"]
    assert dump(shop) == before


@pytest.mark.parametrize(
    "name", ['we"ird', "semi;colon", "quo'te", "sp ace", "sélect", "order", "per%cent/slash?#"]
)
async def test_odd_table_names_work_everywhere(name: str, revision: Revision, shop: Path) -> None:
    quoted = name.replace('"', '""')
    change(shop, f'CREATE TABLE "{quoted}" ("a b" TEXT)')
    change(shop, f'INSERT INTO "{quoted}" VALUES (1)')
    async with connect(build([str(shop)]), revision=revision) as client:
        assert (await call(client, "describe_table", table_name=name))["rows"] == 1
        assert name in (await call(client, "list_tables"))["tables"]
        uri = next(item["uri"] for item in await client.list_resources() if item["name"] == f"shop {name}")
        (read,) = await client.read_resource(uri)
        assert json.loads(read["text"])["first_rows"] == [["1"]]


async def test_the_overview_shows_everything_at_once(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        found = await call(client, "schema_overview")
        (resource,) = await client.read_resource("sqlite://shop/schema")
    assert json.loads(resource["text"]) == found
    assert found["tables"] == [
        {"name": "big_orders", "type": "view", "columns": ["id INTEGER", "customer INTEGER", "total REAL"]},
        {
            "name": "customers",
            "rows": 3,
            "columns": ["id INTEGER PRIMARY KEY", "name TEXT NOT NULL", "city TEXT"],
        },
        {
            "name": "orders",
            "rows": 3,
            "columns": ["id INTEGER PRIMARY KEY", "customer INTEGER NOT NULL", "total REAL"],
            "foreign_keys": ["(customer) -> customers(id)"],
            "indexes": ["orders_by_customer (customer)"],
        },
    ]


async def test_an_overview_of_very_many_tables_fits_and_names_the_rest(shop: Path) -> None:
    for at in range(150):
        change(shop, f"CREATE TABLE table_{at:03} (id INTEGER PRIMARY KEY, some_column TEXT)")
    server = build([str(shop)])
    server.max_result_chars = 5000
    async with connect(server) as client:
        shown = await text(client, "schema_overview")
        listed = await text(client, "list_tables")
    assert len(shown) <= 5000
    assert len(listed) <= 5000
    assert "table_149" in json.loads(listed)["tables"]
    assert json.loads(shown)["omitted"]


async def test_a_table_that_is_not_there_is_no_resource(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        with pytest.raises(McpError, match="not found"):
            await client.read_resource("sqlite://shop/tables/nothing")


async def test_names_are_completed(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        template = {"type": "ref/resource", "uri": "sqlite://{database}/tables/{table}"}
        assert await client.complete(template, "database", "SH") == ["shop"]
        done = await client.complete(template, "table", "Or", {"database": "shop"})
        assert done == ["orders"]


async def test_the_demo_prompt_names_the_topic_and_tools_that_exist(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        (prompt,) = await client.list_prompts()
        assert prompt["name"] == "mcp-demo"
        got = await client.get_prompt("mcp-demo", {"topic": "a bakery"})
        said = got["messages"][0]["content"]["text"]
        tools = {tool["name"] for tool in await client.list_tools()}
    assert "a bakery" in said
    assert set(re.findall(r"\b\w+_(?:query|table|tables|insight|write|overview)\b", said)) <= tools


async def test_a_damaged_database_does_not_spoil_the_list_of_resources(shop: Path) -> None:
    wrong = shop.with_name("wrong.db")
    wrong.write_bytes(b"nothing that SQLite knows, whatever it looks like at first")
    async with connect(build([str(wrong), str(shop)])) as client:
        names = [item["name"] for item in await client.list_resources()]
    assert names == [
        "insights",
        "wrong schema",
        "shop schema",
        "shop big_orders",
        "shop customers",
        "shop orders",
    ]
