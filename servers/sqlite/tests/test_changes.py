"""Whoever watches a database hears of changes, by this server and by others, in both eras."""

# The files of a test are small.
# ruff: noqa: ASYNC240

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Answers, Change, McpError
from mcp_server_core.testing import Revision, connect
from mcp_server_sqlite.announcing import Watch
from mcp_server_sqlite.databases import Databases, choose
from mcp_server_sqlite.server import build
from mcp_server_sqlite.workshop import Workshop

from .asking import call, change, text

pytestmark = pytest.mark.anyio

ORDERS = "sqlite://shop/tables/orders"


async def hear(changes: AsyncIterator[Change], uri: str) -> None:
    with anyio.fail_after(10):
        async for heard in changes:
            if heard == Change("updated", uri):
                return


@pytest.mark.parametrize("uri", [ORDERS, "sqlite://shop/schema"])
async def test_a_change_by_another_process_is_announced(uri: str, revision: Revision, shop: Path) -> None:
    program = (
        f"import sqlite3; c = sqlite3.connect({str(shop)!r}); c.execute('DELETE FROM orders'); c.commit()"
    )
    async with connect(build([str(shop)]), revision=revision) as client, client.watch(uri) as changes:
        await anyio.run_process([sys.executable, "-c", program], stdout=subprocess.DEVNULL)
        await hear(changes, uri)


async def test_a_change_right_after_subscribing_is_not_missed(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client, client.watch(ORDERS) as changes:
        change(shop, "DELETE FROM orders WHERE id = 1")
        await hear(changes, ORDERS)


async def test_changes_by_this_server_are_announced_one_by_one(revision: Revision, shop: Path) -> None:
    async with connect(build([str(shop)]), revision=revision) as client, client.watch(ORDERS) as changes:
        for total in (1, 2, 3):
            await call(
                client, "write_query", query="UPDATE orders SET total = ? WHERE id = 1", params=[total]
            )
            await hear(changes, ORDERS)


async def test_a_write_ahead_log_is_watched_too(shop: Path) -> None:
    change(shop, "PRAGMA journal_mode = WAL")
    with closing(sqlite3.connect(shop)) as other:
        other.execute("SELECT * FROM orders").fetchall()
        async with connect(build([str(shop)])) as client, client.watch(ORDERS) as changes:
            for _ in range(2):
                other.execute("INSERT INTO orders (customer) VALUES (1)")
                other.commit()
                await hear(changes, ORDERS)


async def test_a_table_that_comes_or_goes_changes_the_list_of_resources(
    revision: Revision, shop: Path
) -> None:
    """Told by this server's own calls always, of other programs' doing to whoever watches the database."""

    async def hear_list() -> None:
        with anyio.fail_after(10):
            while (await anext(changes)).kind != "resources":
                pass

    async with connect(build([str(shop)]), revision=revision) as client:
        async with client.watch(lists=["resources"]) as changes:
            await text(client, "create_table", query="CREATE TABLE added (a)")
            await hear_list()
            await call(client, "write_query", query="DROP TABLE added")
            await hear_list()
        async with client.watch(ORDERS, lists=["resources"]) as changes:
            change(shop, "CREATE TABLE foreign_made (a)")
            await hear_list()


async def test_a_database_that_is_replaced_or_created_is_a_change(shop: Path) -> None:
    content = shop.read_bytes()
    shop.unlink()
    async with connect(build([str(shop)])) as client, client.watch(ORDERS) as changes:
        shop.write_bytes(content)
        await hear(changes, ORDERS)
        spare = shop.with_name("spare")
        spare.write_bytes(content)
        change(spare, "DELETE FROM orders")
        spare.replace(shop)
        await hear(changes, ORDERS)
        assert (await call(client, "read_query", query="SELECT count(*) FROM orders"))["rows"] == [[0]]


async def test_a_preview_is_no_change(shop: Path) -> None:
    async with connect(build([str(shop)])) as client, client.watch(ORDERS) as changes:
        await call(client, "preview_write", query="DELETE FROM orders")
        await call(client, "write_query", query="DELETE FROM orders WHERE id = 1")
        await hear(changes, ORDERS)
        with anyio.move_on_after(0.3) as patience:
            await anext(changes)
        assert patience.cancelled_caught


async def test_a_database_in_a_directory_can_be_watched(revision: Revision, shop: Path) -> None:
    uri = "sqlite://shop.db/tables/orders"
    async with connect(build([str(shop.parent)]), revision=revision) as client, client.watch(uri) as changes:
        change(shop, "DELETE FROM orders")
        await hear(changes, uri)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
async def test_a_database_in_a_root_can_be_watched_by_a_client_that_can_be_asked_for_roots(
    revision: Revision, shop: Path
) -> None:
    uri = "sqlite://shop.db/tables/orders"
    answers = Answers(roots=[shop.parent.as_uri()])
    async with (
        connect(build([]), revision=revision, answers=answers) as client,
        client.watch(uri) as changes,
    ):
        change(shop, "DELETE FROM orders")
        await hear(changes, uri)


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
async def test_what_may_not_be_read_may_not_be_watched(revision: Revision, shop: Path) -> None:
    change(shop.with_name("other.db"), "CREATE TABLE t (a)")
    async with connect(build([str(shop)]), revision=revision) as client:
        with pytest.raises(McpError):
            async with client.watch("sqlite://other.db/tables/t"):
                pass


async def test_insights_are_announced(revision: Revision, shop: Path) -> None:
    async with (
        connect(build([str(shop)]), revision=revision) as client,
        client.watch("memo://insights") as changes,
    ):
        assert (
            await text(client, "append_insight", insight="Bob buys little.\n# not a heading")
            == "Noted: insight 1 of the memo."
        )
        await hear(changes, "memo://insights")
        (memo,) = await client.read_resource("memo://insights")
    assert memo["text"] == "# Insights\n\n- Bob buys little. # not a heading\n"


async def test_no_lock_is_held_by_watching(shop: Path) -> None:
    async with connect(build([str(shop)])) as client, client.watch(ORDERS) as changes:
        for at in range(3):
            with closing(sqlite3.connect(shop, timeout=0, isolation_level=None)) as other:
                other.execute("BEGIN EXCLUSIVE")
                other.execute("UPDATE orders SET total = ? WHERE id = 1", (at + 1000,))
                other.execute("COMMIT")
            await hear(changes, ORDERS)


@pytest.mark.parametrize("moments", range(6))
async def test_a_watch_ends_also_when_a_change_comes_at_that_moment(moments: int, shop: Path) -> None:
    workshop = Workshop(Databases(choose([str(shop)], read_only=False)))
    watch = Watch(build([str(shop)]), workshop, "shop")
    with anyio.fail_after(10):
        # By then it waits for changes; if the machine is too busy for that, it only ends the sooner.
        await asyncio.wait([watch.task], timeout=0.5)
        workshop.wrote()
        for _ in range(moments):
            await asyncio.sleep(0)
        watch.task.cancel()
        await asyncio.wait([watch.task])
    assert watch.task.cancelled()
