"""What comes back from a query: complete, exact, bounded, and from one state of the data."""

import base64
import json
import math
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.server import build
from mcp_server_sqlite.statement import bare, has_where, tokens, without_parameters
from mcp_server_sqlite.values import shape

from .asking import ask, call, change, refusal

pytestmark = pytest.mark.anyio


async def test_columns_stand_once_with_their_declared_types(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        found = await call(
            client,
            "read_query",
            query="SELECT id, name, total, id + 1 AS next FROM customers JOIN orders USING (id)",
        )
    assert found == {
        "columns": ["id", "name", "total", "next"],
        "types": ["INTEGER", "TEXT", "REAL", ""],
        "rows": [[1, "Ada", 10.5, 2], [2, "Bob", 200.0, 3], [3, "Cleo", 30.0, 4]],
        "truncated": False,
    }


async def test_columns_of_one_name_are_all_there(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        found = await call(
            client, "read_query", query="SELECT a.id, b.id, a.* FROM customers a, orders b LIMIT 1"
        )
    assert found["columns"] == ["id", "id", "id", "name", "city"]
    assert found["types"] == ["INTEGER", "INTEGER", "INTEGER", "TEXT", "TEXT"]
    assert found["rows"] == [[1, 1, 1, "Ada", "Bern"]]


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("9007199254740991", 9007199254740991),
        ("9007199254740993", {"$int": "9007199254740993"}),
        ("-9223372036854775807 - 1", {"$int": "-9223372036854775808"}),
        ("x'00ff'", {"$blob": "AP8="}),
        ("x''", {"$blob": ""}),
        ("9e999", {"$real": "Infinity"}),
        ("-9e999", {"$real": "-Infinity"}),
        ("NULL", None),
        ("0.1 + 0.2", 0.1 + 0.2),
        ("1e300", 1e300),
        ("'null'", "null"),
        ("char(0, 34, 92, 10, 128512)", '\0"\\\n\U0001f600'),
        ("CAST(x'ff61' AS TEXT)", {"$raw": "/2E="}),
    ],
)
async def test_every_value_comes_through_without_loss(sql: str, shown: Any, shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        found = await call(
            client, "read_query", query=f"SELECT {sql}, NULL, 1.5 UNION ALL SELECT {sql}, 'x', 2"
        )
    assert [row[0] for row in found["rows"]] == [shown, shown]


@given(
    values=st.lists(
        st.none()
        | st.integers(-(2**63), 2**63 - 1)
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_categories=["Cs"]))
        | st.binary(),
        min_size=1,
        max_size=20,
    )
)
def test_a_shaped_value_says_exactly_what_it_was(values: list[Any]) -> None:
    for value in values:
        assert _read(json.loads(json.dumps(shape(value, 10_000)))) == value


def _read(shown: Any) -> Any:
    match shown:
        case {"$int": digits}:
            return int(digits)
        case {"$blob": text}:
            return base64.b64decode(text)
        case {"$real": text}:
            return math.inf if text == "Infinity" else -math.inf
        case _:
            return shown


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ([1, "x'; DROP TABLE orders; --"], [1, "x'; DROP TABLE orders; --"]),
        (
            [{"$int": "9223372036854775807"}, {"$blob": "AP8="}],
            [{"$int": "9223372036854775807"}, {"$blob": "AP8="}],
        ),
        ([{"$real": "-Infinity"}, None], [{"$real": "-Infinity"}, None]),
        ([True, 1.5], [1, 1.5]),
        ('[1, "text of a list"]', [1, "text of a list"]),
    ],
)
async def test_values_are_bound(params: Any, expected: list[Any], shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        assert (await call(client, "read_query", query="SELECT ?, ?", params=params))["rows"] == [expected]


async def test_values_are_bound_by_name(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        for name in ("who", ":who"):
            found = await call(
                client, "read_query", query="SELECT id FROM customers WHERE name = :who", params={name: "Bob"}
            )
            assert (found["rows"], found["types"]) == ([[2]], ["INTEGER"])


@pytest.mark.parametrize(
    "params", [[1], [1, 2, 3], 7, [[1], 2], [{"$blob": "?"}, 1], [{"$int": "1x"}, 1], [2**70, 1], {"a": 1}]
)
async def test_values_that_do_not_fit_are_named(params: Any, shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        said = await refusal(client, "read_query", query="SELECT ?, ?", params=params)
    assert said.endswith(".")
    assert not said.endswith("..")


async def test_pages_follow_one_another_until_the_end(shop: Path) -> None:
    change(
        shop,
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 2500) INSERT INTO orders (customer, total) SELECT 1, x FROM c",
    )
    seen: list[Any] = []
    async with connect(build([str(shop)])) as client:
        more: dict[str, Any] = {}
        while True:
            page = await call(
                client, "read_query", query="SELECT id FROM orders ORDER BY id", limit=700, **more
            )
            seen += page["rows"]
            if not page["truncated"]:
                break
            more = {"cursor": page["cursor"]}
    assert seen == [list(row) for row in ask(shop, "SELECT id FROM orders ORDER BY id")]


async def test_a_page_of_exactly_all_rows_is_the_last(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        assert (await call(client, "read_query", query="SELECT * FROM customers", limit=3))[
            "truncated"
        ] is False
        assert (await call(client, "read_query", query="SELECT * FROM customers", limit=2))[
            "truncated"
        ] is True


async def test_a_thousand_rows_come_unless_told_otherwise(shop: Path) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
    async with connect(build([str(shop)])) as client:
        found = await call(client, "read_query", query=endless)
    assert (len(found["rows"]), found["truncated"]) == (1000, True)


@pytest.mark.parametrize("wal", [False, True])
async def test_a_cursor_says_that_the_data_changed(wal: bool, shop: Path) -> None:
    if wal:
        change(shop, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(shop)) as other:
        async with connect(build([str(shop)])) as client:
            page = await call(client, "read_query", query="SELECT * FROM customers", limit=1)
            second = await call(
                client, "read_query", query="SELECT * FROM customers", limit=1, cursor=page["cursor"]
            )
            assert second["rows"] == [[2, "Bob", "Bern"]]
            other.execute("INSERT INTO customers (name) VALUES ('Dan')")
            other.commit()
            said = await refusal(
                client, "read_query", query="SELECT * FROM customers", limit=1, cursor=page["cursor"]
            )
    assert "changed" in said


async def test_a_cursor_belongs_to_its_query(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        page = await call(
            client, "read_query", query="SELECT * FROM customers WHERE id > ?", params=[0], limit=1
        )
        for other in (
            {"query": "SELECT * FROM orders"},
            {"query": "SELECT * FROM customers WHERE id > ?", "params": [1]},
        ):
            assert "another query" in await refusal(
                client, "read_query", limit=1, cursor=page["cursor"], **other
            )
        for wrong in ("", "x", page["cursor"][:-2], "WyJyb3dzIixbMSwiYSIsMV1d"):
            assert "cursor" in await refusal(
                client, "read_query", query="SELECT * FROM customers", cursor=wrong
            )


async def test_a_cursor_works_in_another_process(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        page = await call(client, "read_query", query="SELECT id FROM customers", limit=2)
    async with connect(build([str(shop)])) as client:
        rest = await call(
            client, "read_query", query="SELECT id FROM customers", limit=2, cursor=page["cursor"]
        )
    assert rest["rows"] == [[3]]


async def test_an_answer_fits_its_budget_and_goes_on_where_it_was_cut(shop: Path) -> None:
    server = build([str(shop)])
    server.max_result_chars = 3000
    query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 400) SELECT x, 'text ' || x FROM c"
    numbers: list[int] = []
    async with connect(server) as client:
        more: dict[str, Any] = {}
        for _ in range(20):
            result = await client.call_tool("read_query", {"query": query, **more})
            assert len(result["content"][0]["text"]) <= 3000
            page = result["structuredContent"]
            numbers += [row[0] for row in page["rows"]]
            more = {"cursor": page.get("cursor")}
            if not page["truncated"]:
                break
    assert numbers == list(range(1, 401))


async def test_a_long_value_is_cut_and_can_be_fetched_in_pieces(shop: Path) -> None:
    change(shop, "INSERT INTO customers (name, city) VALUES (printf('%.*c', 50000, 'x'), zeroblob(50000))")
    async with connect(build([str(shop)])) as client:
        rows = (await call(client, "read_query", query="SELECT name, city FROM customers"))["rows"]
        name, city = rows[3]
        assert name["chars"] == city["bytes"] == 50000
        assert 1000 < len(name["$text"]) < 3000
        piece = await call(
            client, "read_query", query="SELECT substr(name, 20001, 20000) FROM customers WHERE id = 4"
        )
        assert piece["rows"] == [["x" * 20000]]


async def test_long_values_are_bound_and_found(shop: Path) -> None:
    long = "é" * 60_000
    async with connect(build([str(shop)])) as client:
        await call(
            client, "write_query", query="INSERT INTO customers (name, city) VALUES (?, 'x')", params=[long]
        )
        found = await call(
            client, "read_query", query="SELECT id, length(name) FROM customers WHERE name = ?", params=[long]
        )
        rows = (await call(client, "read_query", query="SELECT id, name, city FROM customers"))["rows"]
    assert found["rows"] == [[4, 60_000]]
    assert rows[0] == [1, "Ada", "Bern"]
    assert rows[3][1]["chars"] == 60_000


async def test_a_row_that_cannot_fit_says_what_to_do(shop: Path) -> None:
    server = build([str(shop)])
    server.max_result_chars = 1000
    async with connect(server) as client:
        wide = ", ".join(f"'{'x' * 20}' AS a{at}" for at in range(200))
        assert "fewer" in await refusal(client, "read_query", query=f"SELECT {wide}")
        long = await call(client, "read_query", query="SELECT hex(randomblob(50000)), hex(randomblob(50000))")
        assert [value["chars"] for value in long["rows"][0]] == [100000, 100000]


async def test_no_rows_are_an_answer(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        found = await call(client, "read_query", query="SELECT * FROM customers WHERE 0")
    assert (found["columns"], found["rows"], found["truncated"]) == (["id", "name", "city"], [], False)


@pytest.mark.parametrize(
    "content", [b"", b"this is no database at all, not even nearly", b"SQLite format 3\0" + b"\xff" * 2000]
)
async def test_a_file_that_is_no_database_is_an_error_in_words(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wrong.db"
    path.write_bytes(content)
    async with connect(build([str(path)])) as client:
        if content:
            said = await refusal(client, "read_query", query="SELECT * FROM sqlite_master")
            assert str(tmp_path) not in said
        else:
            assert (await call(client, "list_tables"))["tables"] == []
    assert path.read_bytes() == content


async def test_a_plan_is_shown_without_running_anything(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        for sql in (
            "SELECT * FROM orders WHERE customer = ?",
            "UPDATE orders SET total = 0 WHERE customer = ?",
        ):
            result = await client.call_tool("explain_query", {"query": sql, "params": [1]})
            assert "USING INDEX orders_by_customer" in result["content"][0]["text"]
        assert await refusal(client, "explain_query", query="DROP TABLE orders")
        assert await refusal(client, "explain_query", query="SELECT 1; DELETE FROM orders")
    assert ask(shop, "SELECT sum(total) FROM orders") == [(240.5,)]


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.text(alphabet="abWHERE wher'\"`[]()-/*;?:@$1\n .,", max_size=40))
def test_the_pieces_of_any_text_make_up_the_text(sql: str) -> None:
    assert "".join(token.text for token in tokens(sql)) == sql
    assert sql.startswith(bare(sql))


@pytest.mark.parametrize(
    ("sql", "bounded"),
    [
        ("DELETE FROM t", False),
        ("DELETE FROM t -- WHERE x", False),
        ("DELETE FROM t /* WHERE */", False),
        ("UPDATE t SET a = 'WHERE'", False),
        ('UPDATE t SET "WHERE" = 1', False),
        ("UPDATE t SET a = (SELECT b FROM u WHERE u.id = 1)", False),
        ("WITH x AS (SELECT 1 WHERE 1) DELETE FROM t", False),
        ("DELETE FROM t where a = 1", True),
        ("UPDATE t SET a = ')' WHERE b", True),
    ],
)
def test_a_where_is_one_only_if_it_is_the_statements_own(sql: str, bounded: bool) -> None:
    assert has_where(sql) is bounded


def test_parameters_are_found_outside_of_quotes_only() -> None:
    sql = "SELECT ?, ?12, :a, @b, $c, '?', \":d\", a::text -- ?\n"
    assert without_parameters(sql).startswith("SELECT NULL, NULL, NULL, NULL, NULL, '?', \":d\"")
