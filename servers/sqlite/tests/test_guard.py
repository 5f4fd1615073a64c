"""Reading cannot write, and nothing reaches another file: the engine says no, whatever the text looks like."""

# The files of a test are small.
# ruff: noqa: ASYNC240

import hashlib
from pathlib import Path

import pytest
from mcp_server_core.testing import connect
from mcp_server_sqlite.server import build

from .asking import call, change, dump, refusal

pytestmark = pytest.mark.anyio

WRITES = [
    "INSERT INTO customers (name) VALUES ('x')",
    "insert\n/* select */ into customers (name) values ('x')",
    "-- SELECT\nDELETE FROM customers",
    "/* SELECT 1 */ DELETE FROM customers",
    "UPDATE customers SET name = 'x' RETURNING *",
    "DELETE FROM orders RETURNING id",
    "REPLACE INTO customers VALUES (1, 'x', 'y')",
    "WITH gone AS (SELECT 1) DELETE FROM customers WHERE id IN gone",
    "WITH a AS (SELECT 1) INSERT INTO customers (name) SELECT 'x' FROM a",
    "WITH a(x) AS (VALUES (1)) UPDATE customers SET name = 'x' WHERE id IN (SELECT x FROM a) RETURNING *",
    "CREATE TABLE x (a)",
    "CREATE TEMP TABLE x (a)",
    "CREATE TABLE x AS SELECT * FROM customers",
    "CREATE VIEW x AS SELECT 1",
    "CREATE TRIGGER x AFTER INSERT ON customers BEGIN SELECT 1; END",
    "CREATE VIRTUAL TABLE x USING fts5(a)",
    "CREATE INDEX x ON customers (name)",
    "DROP TABLE customers",
    "DROP VIEW big_orders",
    "ALTER TABLE customers RENAME TO clients",
    "ALTER TABLE customers ADD COLUMN x",
    "PRAGMA writable_schema = 1",
    "PRAGMA user_version = 7",
    "PRAGMA journal_mode = WAL",
    "PRAGMA journal_mode(DELETE)",
    "PRAGMA query_only = 0",
    "PRAGMA query_only(0)",
    "PRAGMA main.application_id = 3",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA optimize",
    "PRAGMA incremental_vacuum",
    "PRAGMA temp_store_directory = '/tmp'",
    "PRAGMA trusted_schema = 1",
    "PRAGMA database_list",
    "SELECT * FROM pragma_query_only(0)",
    "UPDATE sqlite_master SET sql = 'x'",
    "DELETE FROM sqlite_master",
    "INSERT INTO sqlite_schema VALUES ('table', 'x', 'x', 0, 'CREATE TABLE x (a)')",
    "VACUUM",
    "VACUUM INTO 'copy.db'",
    "ATTACH DATABASE 'other.db' AS other",
    "ATTACH ':memory:' AS other",
    "DETACH DATABASE main",
    "ANALYZE",
    "REINDEX",
    "BEGIN",
    "BEGIN IMMEDIATE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT x",
    "SELECT load_extension('evil')",
    "SELECT load_extension('evil', 'entry')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('x', x'00')",
    "SELECT readfile('/etc/passwd')",
    "SELECT writefile('copy.db', 'x')",
    "SELECT * FROM fsdir('/')",
    "SELECT edit('x')",
    "SELECT * FROM sqlite_dbpage",
    "EXPLAIN DELETE FROM customers",
    "SELECT 1; DELETE FROM customers",
    "SELECT 1; SELECT 2",
    "SELECT ';' ; -- ';\nDROP TABLE orders",
    "SELECT 1;;; DROP TABLE orders",
    ";",
    "",
    "   -- nothing",
    "/* never closed",
    "SELECT 1 \0; DELETE FROM customers",
    "\ufeffDELETE FROM customers",
    "QUERY PLAN DELETE FROM customers",
    "AS SELECT 1",
]


@pytest.mark.parametrize("sql", WRITES)
async def test_what_is_no_read_is_refused_and_changes_nothing(
    sql: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.parent)
    before, names = hashlib.sha256(shop.read_bytes()).digest(), sorted(shop.parent.iterdir())
    async with connect(build([str(shop)])) as client:
        said = await refusal(client, "read_query", query=sql)
    assert hashlib.sha256(shop.read_bytes()).digest() == before
    assert sorted(shop.parent.iterdir()) == names
    assert "Traceback" not in said
    assert said.endswith(".")


READS = [
    ("SELECT 'DELETE FROM customers; --'", "DELETE FROM customers; --"),
    ("SELECT '; DROP TABLE orders' -- ; DELETE", "; DROP TABLE orders"),
    ("/* INSERT */ SELECT 1;", 1),
    ("SELECT 1 ; -- and no more", 1),
    ("SELECT \"name\" AS 'INSERT INTO' FROM customers ORDER BY id", "Ada"),
    ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5) SELECT max(x) FROM c", 5),
    ("VALUES (7)", 7),
    ("SELECT count(*) FROM big_orders", 1),
    ("SELECT name FROM pragma_table_info('customers')", "id"),
    ("PRAGMA user_version", 0),
    ("PRAGMA integrity_check", "ok"),
    ("SELECT json_extract('{\"a\": 4}', '$.a')", 4),
    ("SELECT value FROM json_each('[9]')", 9),
    ("SELECT upper('x') || printf('%03d', 5)", "X005"),
]


@pytest.mark.parametrize(("sql", "first"), READS)
async def test_what_only_looks_like_a_write_is_read(sql: str, first: object, shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        assert (await call(client, "read_query", query=sql))["rows"][0][0] == first


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM customers",
        "PRAGMA writable_schema = 1",
        "VACUUM",
        "VACUUM INTO 'copy.db'",
        "ATTACH 'other.db' AS other",
        "CREATE TEMP TABLE x (a)",
        "CREATE VIRTUAL TABLE x USING csv(filename='/etc/passwd')",
        "CREATE VIRTUAL TABLE x USING dbstat",
        "INSERT INTO customers (name) VALUES (load_extension('evil'))",
        "INSERT INTO customers (name) VALUES ('x'); DROP TABLE orders",
        "UPDATE sqlite_master SET sql = 'x' WHERE 1 = 1",
        "BEGIN",
        "PRAGMA foreign_keys = 0",
    ],
)
async def test_writing_reaches_nothing_but_the_tables(
    sql: str, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop.parent)
    before, names = dump(shop), sorted(shop.parent.iterdir())
    async with connect(build([str(shop)])) as client:
        await refusal(client, "write_query", query=sql)
    assert dump(shop) == before
    assert sorted(shop.parent.iterdir()) == names


async def test_a_view_of_a_foreign_file_cannot_call_what_is_switched_off(shop: Path) -> None:
    change(shop, "CREATE VIEW evil AS SELECT load_extension('x')")
    async with connect(build([str(shop)])) as client:
        assert "load_extension" in await refusal(client, "read_query", query="SELECT * FROM evil")


async def test_the_tables_inside_a_full_text_index_are_not_for_anybodys_hand(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        await call(client, "write_query", query="CREATE VIRTUAL TABLE notes USING fts5(body)")
        await call(client, "write_query", query="INSERT INTO notes VALUES ('hello world')")
        said = await refusal(client, "write_query", query="DELETE FROM notes_data WHERE id = 1")
        assert "virtual table" in said or "may not be modified" in said
        found = await call(client, "read_query", query="SELECT body FROM notes WHERE notes MATCH 'hello'")
    assert found["rows"] == [["hello world"]]


async def test_a_query_that_wants_all_the_memory_gets_an_error(shop: Path) -> None:
    columns = ", ".join(["length(randomblob(60000000)), randomblob(60000000)"] * 40)
    async with connect(build([str(shop)])) as client:
        said = await refusal(client, "read_query", query=f"SELECT {columns}")
        assert "memory" in said
        assert (await call(client, "read_query", query="SELECT 1"))["rows"] == [[1]]


async def test_a_value_that_is_too_long_is_an_error(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        said = await refusal(client, "read_query", query="SELECT length(hex(randomblob(60000000)))")
    assert "64 MiB" in said


async def test_a_pattern_that_would_take_hours_to_match_is_an_error(shop: Path) -> None:
    query = "SELECT printf('%.*c', 60000000, 'a') LIKE '%' || printf('%.*c', 40000, 'a') || 'b'"
    async with connect(build([str(shop)])) as client:
        assert "pattern" in await refusal(client, "read_query", query=query)
