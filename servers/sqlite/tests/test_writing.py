"""Changes: done once, asked about when they are sweeping, tried without a trace."""

# The files of a test are small.
# ruff: noqa: ASYNC240

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp_server_core import Answers
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.server import build

from .asking import ask, call, change, dump, refusal, text

pytestmark = pytest.mark.anyio

CAN_ASK = ("2025-06-18", "2025-11-25", "2026-07-28")


def saying(agree: bool, heard: list[str]) -> Answers:
    async def answer(question: dict[str, Any]) -> dict[str, Any]:
        heard.append(question["message"])
        return {"action": "accept", "content": {"run": agree}}

    return Answers(elicit=answer)


async def test_a_write_says_what_it_did(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        done = await call(
            client, "write_query", query="INSERT INTO customers (name) VALUES (?), (?)", params=["Dan", "Eve"]
        )
        assert done == {"affected_rows": 2, "last_insert_rowid": 5}
        done = await call(
            client, "write_query", query="UPDATE customers SET city = 'Rome' WHERE id > 3 RETURNING id"
        )
        assert done == {"affected_rows": 2, "columns": ["id"], "rows": [[4], [5]]}
        assert await call(client, "write_query", query="DELETE FROM customers WHERE id = 99") == {
            "affected_rows": 0
        }
    assert ask(shop, "SELECT count(*) FROM customers WHERE city = 'Rome'") == [(2,)]


async def test_rows_with_text_that_is_not_utf_8_can_be_changed_and_seen(shop: Path) -> None:
    change(shop, "UPDATE customers SET city = CAST(x'ff61' AS TEXT) WHERE id = 2")
    gone = {"columns": ["id", "name", "city"], "rows": [[2, "Bob", {"$raw": "/2E="}]]}
    async with connect(build([str(shop)])) as client:
        (resource,) = await client.read_resource("sqlite://shop/tables/customers")
        assert json.loads(resource["text"])["first_rows"][1] == gone["rows"][0]
        change(shop, "DELETE FROM orders")
        seen = await call(client, "preview_write", query="DELETE FROM customers WHERE id = 2")
        assert seen == {"affected_rows": 1, "tables": ["customers"], **gone}
        done = await call(client, "write_query", query="DELETE FROM customers WHERE id = 2 RETURNING *")
        assert done == {"affected_rows": 1, **gone}


async def test_a_failed_write_changes_nothing(shop: Path) -> None:
    before = dump(shop)
    async with connect(build([str(shop)])) as client:
        for sql in (
            "INSERT INTO customers (id, name) VALUES (10, 'x'), (1, 'y')",
            "INSERT INTO orders (customer) VALUES (99)",
            "UPDATE orders SET customer = 99 WHERE id < 3",
            "UPDATE nothing SET a = 1",
            "INSERT INTO customers (name) VALUES (?)",
        ):
            assert await refusal(client, "write_query", query=sql)
    assert dump(shop) == before


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders",
        "DELETE FROM orders WHERE 1 = 1",
        "DELETE FROM orders WHERE id > 0 RETURNING *",
        "UPDATE orders SET total = 0",
        "UPDATE orders SET total = 0 WHERE id",
        "WITH a AS (SELECT 1 WHERE 1) DELETE FROM orders",
        "DROP TABLE orders",
        "DROP VIEW big_orders",
        "DROP INDEX orders_by_customer",
        "ALTER TABLE orders RENAME TO o",
        "CREATE INDEX x ON orders (total)",
        "CREATE TRIGGER x AFTER INSERT ON orders BEGIN DELETE FROM customers; END",
    ],
)
async def test_a_sweeping_change_is_made_only_if_the_user_agrees(sql: str, shop: Path) -> None:
    before, heard = dump(shop), list[str]()
    async with connect(build([str(shop)]), answers=saying(False, heard)) as client:
        assert "did not agree" in await refusal(client, "write_query", query=sql)
    assert dump(shop) == before
    assert len(heard) == 1
    assert sql in heard[0]
    async with connect(build([str(shop)]), answers=saying(True, heard)) as client:
        await call(client, "write_query", query=sql)
    assert dump(shop) != before
    assert len(heard) == 2


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM orders WHERE id = 1",
        "UPDATE orders SET total = total + 1 WHERE customer = 1",
        "INSERT INTO orders (customer) SELECT id FROM customers",
        "INSERT INTO orders (id, customer) VALUES (1, 1) ON CONFLICT DO UPDATE SET total = 0",
    ],
)
async def test_an_ordinary_change_asks_nobody(sql: str, shop: Path) -> None:
    heard: list[str] = []
    async with connect(build([str(shop)], confirm=True), answers=saying(False, heard)) as client:
        await call(client, "write_query", query=sql)
    assert heard == []


async def test_a_client_that_can_ask_is_asked_in_every_era(revision: Revision, shop: Path) -> None:
    heard: list[str] = []
    async with connect(
        build([str(shop)], confirm=True), revision=revision, answers=saying(True, heard)
    ) as client:
        if revision in CAN_ASK:
            await call(client, "write_query", query="DROP TABLE orders")
        else:
            assert "--confirm" in await refusal(client, "write_query", query="DROP TABLE orders")
    gone = ask(shop, "SELECT count(*) FROM sqlite_master WHERE name = 'orders'") == [(0,)]
    assert (gone, len(heard)) == (revision in CAN_ASK, int(revision in CAN_ASK))


async def test_with_confirm_nothing_sweeping_happens_unasked(revision: Revision, shop: Path) -> None:
    before = dump(shop)
    async with connect(build([str(shop)], confirm=True), revision=revision) as client:
        for tool, sql in (
            ("write_query", "DELETE FROM orders"),
            ("write_query", "DROP TABLE orders"),
            ("create_table", "CREATE TABLE x (a)"),
        ):
            assert "--confirm" in await refusal(client, tool, query=sql)
    assert dump(shop) == before


async def test_without_confirm_a_client_that_cannot_ask_is_trusted(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        assert await call(client, "write_query", query="DELETE FROM orders") == {"affected_rows": 3}


async def test_nothing_is_locked_while_the_user_thinks(shop: Path) -> None:
    async def think(question: dict[str, Any]) -> dict[str, Any]:
        with closing(sqlite3.connect(shop, timeout=0)) as other, other:
            other.execute("INSERT INTO orders (customer) VALUES (3)")
        return {"action": "accept", "content": {"run": True}}

    async with connect(build([str(shop)]), answers=Answers(elicit=think)) as client:
        assert await call(client, "write_query", query="DELETE FROM orders WHERE id < 99") == {
            "affected_rows": 4
        }


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE a (id INTEGER PRIMARY KEY)",
        "create table if not exists b as select 1 as x",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
    ],
)
async def test_create_table_creates_one_table(sql: str, shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        assert (await text(client, "create_table", query=sql)).startswith("Created ")


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE INDEX i ON orders (total)",
        "DROP TABLE orders",
        "CREATE TABLE a (x); DROP TABLE orders",
        "INSERT INTO customers (name) VALUES ('CREATE TABLE')",
        "CREATE TEMP TABLE a (x)",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE orders (x)",
        "SELECT 1",
        "CREATE TABLE",
    ],
)
async def test_create_table_does_nothing_else(sql: str, shop: Path) -> None:
    before = dump(shop)
    async with connect(build([str(shop)])) as client:
        assert await refusal(client, "create_table", query=sql)
    assert dump(shop) == before


async def test_a_table_that_is_there_is_not_said_to_be_created(shop: Path) -> None:
    before = dump(shop)
    async with connect(build([str(shop)], confirm=True)) as client:
        said = await text(client, "create_table", query="CREATE TABLE IF NOT EXISTS Orders (other)")
    assert "exists already" in said
    assert dump(shop) == before


async def test_a_missing_database_reads_as_empty_and_is_created_by_the_first_write(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    async with connect(build([str(path)])) as client:
        assert (await call(client, "list_tables"))["tables"] == []
        assert await refusal(client, "create_table", query="CREATE TABLE")
        assert await refusal(client, "write_query", query="INSERT INTO nothing VALUES (1)")
        await call(client, "preview_write", query="CREATE TABLE a (x)")
        assert not path.exists()
        assert await text(client, "create_table", query="CREATE TABLE a (x)") == "Created a."
        await call(client, "write_query", query="INSERT INTO a VALUES (1)")
    assert ask(path, "SELECT * FROM a") == [(1,)]


async def test_a_missing_database_is_missing_where_nothing_may_be_written(tmp_path: Path) -> None:
    for server in (build([str(tmp_path / "new.db")], read_only=True), build([f"{tmp_path / 'new.db'}:ro"])):
        async with connect(server) as client:
            assert "does not exist" in await refusal(client, "list_tables")
            assert await refusal(client, "create_table", query="CREATE TABLE a (x)")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("wal", [False, True])
async def test_a_preview_reports_and_leaves_no_trace(wal: bool, shop: Path) -> None:
    if wal:
        change(shop, "PRAGMA journal_mode = WAL")
    change(shop, "CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, gone INTEGER)")
    change(shop, "CREATE TRIGGER t AFTER DELETE ON orders BEGIN INSERT INTO log (gone) VALUES (old.id); END")
    before, content, written = dump(shop), shop.read_bytes(), shop.stat().st_mtime_ns
    async with connect(build([str(shop)])) as client:
        seen = await call(client, "preview_write", query="DELETE FROM orders WHERE customer = 1; -- really?")
        assert seen == {
            "affected_rows": 2,
            "tables": ["orders", "log"],
            "columns": ["id", "customer", "total"],
            "rows": [[1, 1, 10.5], [2, 1, 200.0]],
        }
        dropped = await call(client, "preview_write", query="DROP TABLE orders")
        assert dropped["schema_change"] == "drops a table"
        many = await call(
            client,
            "preview_write",
            query="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200000) INSERT INTO customers (name) SELECT 'a long name to fill pages ' || x FROM c",
        )
        assert many["affected_rows"] == 200_000
        assert len(many["rows"]) == 5
        assert "UNIQUE" in await refusal(
            client, "preview_write", query="INSERT INTO customers VALUES (1, 'x', 'y')"
        )
    assert (shop.read_bytes(), shop.stat().st_mtime_ns, dump(shop)) == (content, written, before)
    assert not shop.with_name("shop.db-journal").exists()


async def test_a_locked_database_is_waited_for_and_then_an_error(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcp_server_sqlite.database.BUSY_SECONDS", 0.2)
    with closing(sqlite3.connect(shop, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        async with connect(build([str(shop)])) as client:
            assert "locked" in await refusal(
                client, "write_query", query="INSERT INTO customers (name) VALUES ('x')"
            )
            assert (await call(client, "read_query", query="SELECT count(*) FROM customers"))["rows"] == [[3]]
            other.execute("COMMIT")
            assert await call(client, "write_query", query="INSERT INTO customers (name) VALUES ('x')")


async def test_no_lock_is_left_behind_by_any_call(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        for tool, sql in (
            ("read_query", "SELECT * FROM customers"),
            ("preview_write", "DELETE FROM orders"),
            ("write_query", "INSERT INTO customers (id, name) VALUES (1, 'x')"),
            ("write_query", "UPDATE orders SET total = 1 WHERE id = 1"),
        ):
            await client.call_tool(tool, {"query": sql})
            with closing(sqlite3.connect(shop, timeout=0, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")


async def test_a_read_only_server_writes_nowhere(shop: Path) -> None:
    async with connect(build([str(shop)], read_only=True)) as client:
        for tool in ("write_query", "preview_write"):
            assert "read-only" in await refusal(
                client, tool, query="INSERT INTO customers (name) VALUES ('x')"
            )
