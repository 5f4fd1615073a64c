"""A query that would run for ever: stopped by its deadline, by its client, by the client's end; in nobody's way."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.running import running
from mcp_server_sqlite.server import build

from .asking import ask, call, refusal

pytestmark = pytest.mark.anyio

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
ENDLESS_WRITE = (
    "INSERT INTO customers (name) WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    "SELECT 'x' || x FROM c"
)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for threads, which tell nobody when they end."""
    with anyio.fail_after(5):
        while not condition():  # noqa: ASYNC110 - a thread sets no event
            await anyio.sleep(0.01)


async def cancelled_call(client: Client, query: str, tool: str = "read_query") -> None:
    """A call that its client gives up once it runs."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, tool, {"query": query})
        await until(lambda: running() > 0)
        assert (await call(client, "read_query", query="SELECT 1"))["rows"] == [[1]]
        tasks.cancel_scope.cancel()


async def test_a_cancelled_query_ends_while_others_are_answered(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client:
        await cancelled_call(client, ENDLESS)
        await until(lambda: running() == 0)
        assert (await call(client, "read_query", query="SELECT 2"))["rows"] == [[2]]


async def test_a_cancelled_write_changes_nothing_and_leaves_no_lock(shop: Path) -> None:
    async with connect(build([str(shop)])) as client:
        await cancelled_call(client, ENDLESS_WRITE, "write_query")
        await until(lambda: running() == 0)
        with closing(sqlite3.connect(shop, timeout=0, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
    assert ask(shop, "SELECT count(*) FROM customers") == [(3,)]


@pytest.mark.parametrize(
    ("tool", "sql"),
    [
        ("read_query", ENDLESS),
        ("read_query", f"SELECT * FROM ({ENDLESS}) ORDER BY 1"),
        ("read_query", "SELECT count(*) FROM " + ", ".join(f"pragma_function_list a{at}" for at in range(6))),
        ("write_query", ENDLESS_WRITE),
        ("preview_write", ENDLESS_WRITE),
    ],
)
async def test_the_deadline_ends_a_query_and_says_so(tool: str, sql: str, shop: Path) -> None:
    async with connect(build([str(shop)], timeout=0.3)) as client:
        began = time.monotonic()
        assert "Stopped after 0.3 seconds" in await refusal(client, tool, query=sql)
        assert time.monotonic() - began < 3
    assert ask(shop, "SELECT count(*) FROM customers") == [(3,)]


async def test_a_query_ends_when_its_client_is_gone(shop: Path) -> None:
    async with connect(build([str(shop)], timeout=600)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "read_query", {"query": ENDLESS})
        await until(lambda: running() > 0)
        tasks.cancel_scope.cancel()
    await until(lambda: running() == 0)


async def test_forty_endless_queries_keep_nobody_waiting(shop: Path) -> None:
    """More than the server has worker threads."""
    async with connect(build([str(shop)], timeout=60)) as client, anyio.create_task_group() as tasks:
        for _ in range(40):
            tasks.start_soon(client.call_tool, "read_query", {"query": ENDLESS})
        await until(lambda: running() >= 40)
        with anyio.fail_after(10):
            assert (await call(client, "read_query", query="SELECT name FROM customers"))["rows"][0] == [
                "Ada"
            ]
            assert (await call(client, "list_tables"))["tables"] == ["customers", "orders"]
        tasks.cancel_scope.cancel()
    await until(lambda: running() == 0)


async def test_a_long_query_reports_progress(revision: Revision, shop: Path) -> None:
    reports: list[tuple[Any, ...]] = []

    async def note(*report: Any) -> None:
        reports.append(report)

    async with connect(build([str(shop)], timeout=1.3), revision=revision) as client:
        await client.call_tool("read_query", {"query": ENDLESS}, progress=note)
    assert len(reports) >= 2
    done = [report[0] for report in reports]
    assert done == sorted(done)


async def test_calls_do_not_wait_for_one_another(shop: Path) -> None:
    """Ten readers and a writer that is not done: nobody waits."""
    with closing(sqlite3.connect(shop, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("UPDATE customers SET name = 'being changed'")
        async with connect(build([str(shop)])) as client:
            with anyio.fail_after(4):  # a reader that waited would wait for five seconds
                async with anyio.create_task_group() as tasks:
                    for _ in range(10):
                        tasks.start_soon(_read_names, client)
        other.execute("ROLLBACK")


async def _read_names(client: Client) -> None:
    for _ in range(5):
        rows = (await call(client, "read_query", query="SELECT name FROM customers ORDER BY id"))["rows"]
        assert rows == [["Ada"], ["Bob"], ["Cleo"]]


async def test_fifty_writes_at_once_are_all_kept(shop: Path) -> None:
    async with connect(build([str(shop)])) as client, anyio.create_task_group() as tasks:
        for at in range(50):
            arguments = {"query": "INSERT INTO customers (name) VALUES (?)", "params": [f"c{at}"]}
            tasks.start_soon(_write, client, arguments)
    assert ask(shop, "SELECT count(DISTINCT name) FROM customers WHERE name LIKE 'c%' AND id > 3") == [(50,)]


async def _write(client: Client, arguments: dict[str, Any]) -> None:
    result = await client.call_tool("write_query", arguments)
    assert not result.get("isError"), result
