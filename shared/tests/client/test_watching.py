"""Watching for changes, as an async iterator, in both eras."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_server_core import Change, Client, McpError, Registry, RequestTimeout
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import META_SUBSCRIPTION, Revision

from ..server.talking import connect, serving
from .scripted import PATIENCE, Script, Scripted, Wire

pytestmark = pytest.mark.anyio
NEWEST: Revision = "2026-07-28"


def notes() -> Registry:
    part = Registry()

    @part.resource("note:///{title}", "Note", watch=True)
    async def note(title: str) -> str:
        return title

    @part.tool("Nothing", read_only=True, open_world=False)
    async def nothing() -> None:
        """Nothing."""

    return part


@asynccontextmanager
async def stateless_client(script: Script, **options: Any) -> AsyncGenerator[Client]:
    async def whole(wire: Wire) -> None:
        await wire.discover()
        await script(wire)

    with anyio.fail_after(PATIENCE):
        async with Client(Scripted(whole), revision=NEWEST, **options) as client:
            yield client


async def acknowledged(wire: Wire) -> Json:
    """Accept a listen request."""
    asked = await wire.expect("subscriptions/listen")
    await wire.notify(
        "notifications/subscriptions/acknowledged",
        {"notifications": asked["params"]["notifications"], "_meta": {META_SUBSCRIPTION: asked["id"]}},
    )
    return asked


def tagged(asked: Json, **params: Any) -> Json:
    return {**params, "_meta": {META_SUBSCRIPTION: asked["id"]}}


async def test_a_watch_sees_what_changes(revision: Revision) -> None:
    server = serving(notes())
    async with (
        connect(server, revision=revision) as client,
        client.watch("note:///a", "note:///b") as changes,
    ):
        await server.changed("note:///b")
        assert await anext(changes) == Change("updated", "note:///b")
        await server.changed("note:///a")
        assert await anext(changes) == Change("updated", "note:///a")


async def test_a_watch_sees_lists_that_change(revision: Revision) -> None:
    server = serving(notes())
    part = Registry()

    @part.tool("New", read_only=True, open_world=False)
    async def new() -> None:
        """New."""

    @part.resource("new:///a", "New")
    async def new_resource() -> str:
        return ""

    async with connect(server, revision=revision) as client:
        await client.list_tools()
        async with client.watch(lists=["tools"]) as changes:
            await server.add(part)
            assert await anext(changes) == Change("tools")


async def test_two_watches_of_one_thing_both_see_it_once(revision: Revision) -> None:
    server = serving(notes())
    async with (
        connect(server, revision=revision) as client,
        client.watch("note:///a") as one,
        client.watch("note:///a") as two,
    ):
        await server.changed("note:///a")
        assert [await anext(one), await anext(two)] == [Change("updated", "note:///a")] * 2
        await server.changed("note:///a")
        assert [await anext(one), await anext(two)] == [Change("updated", "note:///a")] * 2


async def test_one_of_two_watches_may_end_first(revision: Revision) -> None:
    server = serving(notes())
    async with connect(server, revision=revision) as client, client.watch("note:///a") as one:
        async with client.watch("note:///a"):
            pass
        await server.changed("note:///a")
        assert await anext(one) == Change("updated", "note:///a")


async def test_nothing_is_watched_when_the_block_ends(revision: Revision) -> None:
    server = serving(notes())
    async with connect(server, revision=revision) as client:
        async with client.watch("note:///a"):
            assert server.subscriptions.uris == {"note:///a"}
        await client.ping()
        assert server.subscriptions.uris == frozenset()


async def test_a_watch_is_in_place_when_the_block_begins_also_for_the_second(old: Revision) -> None:
    server = serving(notes())
    ready: list[bool] = []
    async with connect(server, revision=old) as client, anyio.create_task_group() as tasks:
        done = anyio.Event()

        async def watch() -> None:
            async with client.watch("note:///a"):
                ready.append("note:///a" in server.subscriptions.uris)
                if len(ready) == 2:
                    done.set()
                await done.wait()

        tasks.start_soon(watch)
        tasks.start_soon(watch)
    assert ready == [True, True]


async def test_what_cannot_be_watched_is_an_error_of_the_handshake_server(old: Revision) -> None:
    async with connect(serving(notes()), revision=old) as client:
        with pytest.raises(McpError) as caught:
            async with client.watch("nope:///a"):
                pass
    assert caught.value.code == -32002


async def test_a_watch_that_fails_leaves_the_other_watches_alone(old: Revision) -> None:
    server = serving(notes())
    uris = [f"note:///{number}" for number in range(12)]
    async with connect(server, revision=old) as client, client.watch(*uris) as changes:
        with pytest.raises(McpError):
            async with client.watch(*uris, "nope:///a"):
                pass
        assert server.subscriptions.uris == set(uris)
        await server.changed(uris[0])
        assert await anext(changes) == Change("updated", uris[0])


async def test_a_server_that_has_nothing_to_watch_is_an_error_that_can_be_caught() -> None:
    async with connect(serving(), revision=NEWEST) as client:
        with pytest.raises(McpError) as caught:
            async with client.watch("note:///a"):
                pass
    assert caught.value.code == -32601


async def test_an_error_in_the_block_comes_out_as_it_is(revision: Revision) -> None:
    async with connect(serving(notes()), revision=revision) as client:
        with pytest.raises(ZeroDivisionError):
            async with client.watch("note:///a"):
                raise ZeroDivisionError


async def test_a_stream_that_is_never_acknowledged_times_out_like_any_request() -> None:
    async def script(wire: Wire) -> None:
        await wire.expect("subscriptions/listen")
        await wire.until_gone()

    async with stateless_client(script, timeout=0.01) as client:
        with pytest.raises(RequestTimeout):
            async with client.watch("note:///a"):
                pass


ENDS = ["result", "cancelled", "result then cancelled", "cancelled then result", "gone"]


@pytest.mark.parametrize("end", ENDS)
async def test_a_watch_ends_when_the_server_ends_the_stream(end: str) -> None:
    """K-1: a server may end it either way, both ways, or not at all."""

    async def script(wire: Wire) -> None:
        asked = await acknowledged(wire)
        await wire.notify("notifications/resources/updated", tagged(asked, uri="note:///a"))
        for word in end.split():
            if word == "result":
                await wire.reply(asked, {"resultType": "complete", "_meta": {META_SUBSCRIPTION: asked["id"]}})
            elif word == "cancelled":
                await wire.notify("notifications/cancelled", {"requestId": asked["id"]})
            elif word == "gone":
                return
        await wire.until_gone()

    async with stateless_client(script) as client, client.watch("note:///a") as changes:
        assert [change async for change in changes] == [Change("updated", "note:///a")]


async def test_a_watch_ends_when_our_own_server_stops() -> None:
    server = serving(notes())
    async with connect(server, revision=NEWEST) as client, client.watch("note:///a") as changes:
        await server.changed("note:///a")
        await server.stop()
        assert [change async for change in changes] == [Change("updated", "note:///a")]


async def test_a_watch_of_a_handshake_server_ends_with_the_connection() -> None:
    leave = anyio.Event()

    async def script(wire: Wire) -> None:
        await wire.initialize(capabilities={"resources": {"subscribe": True}})
        await wire.reply(await wire.expect("resources/subscribe"), {})
        await leave.wait()

    with anyio.fail_after(PATIENCE):
        async with (
            Client(Scripted(script), revision="2025-11-25") as client,
            client.watch("note:///a") as changes,
        ):
            leave.set()
            assert [change async for change in changes] == []


async def test_notices_of_another_stream_are_not_mixed_up() -> None:
    async def script(wire: Wire) -> None:
        one, two = await acknowledged(wire), await acknowledged(wire)
        await wire.notify("notifications/resources/updated", tagged(two, uri="note:///b"))
        await wire.notify("notifications/resources/updated", tagged(one, uri="note:///a"))
        await wire.until_gone()

    async with (
        stateless_client(script) as client,
        client.watch("note:///a") as one,
        client.watch("note:///b") as two,
    ):
        assert await anext(one) == Change("updated", "note:///a")
        assert await anext(two) == Change("updated", "note:///b")


async def test_a_notice_before_the_acknowledgement_is_not_lost() -> None:
    """Peers of the pre-release may send it first."""

    async def script(wire: Wire) -> None:
        asked = await wire.expect("subscriptions/listen")
        await wire.notify("notifications/resources/updated", tagged(asked, uri="note:///a"))
        notifications = asked["params"]["notifications"]
        await wire.notify(
            "notifications/subscriptions/acknowledged", tagged(asked, notifications=notifications)
        )
        await wire.until_gone()

    async with stateless_client(script) as client, client.watch("note:///a") as changes:
        assert await anext(changes) == Change("updated", "note:///a")


async def test_an_untagged_notice_reaches_the_watch_that_wants_it() -> None:
    """On stdio, match by type and URI as a fallback."""

    async def script(wire: Wire) -> None:
        await acknowledged(wire)
        await wire.notify("notifications/resources/updated", {"uri": "note:///other"})
        await wire.notify("notifications/resources/updated", {"uri": "note:///a"})
        await wire.until_gone()

    async with stateless_client(script) as client, client.watch("note:///a") as changes:
        assert await anext(changes) == Change("updated", "note:///a")


async def test_leaving_a_watch_cancels_its_stream() -> None:
    told: list[Any] = []

    async def script(wire: Wire) -> None:
        asked = await acknowledged(wire)
        told.append((asked["id"], (await wire.expect("notifications/cancelled"))["params"]["requestId"]))
        await wire.reply(await wire.expect("tools/list"), {"resultType": "complete", "tools": []})
        await wire.until_gone()

    async with stateless_client(script) as client:
        async with client.watch("note:///a"):
            pass
        await client.list_tools()
    assert told[0][0] == told[0][1]


async def test_equal_changes_that_nobody_took_yet_are_one(revision: Revision) -> None:
    server = serving(notes())
    async with (
        connect(server, revision=revision) as client,
        client.watch("note:///a", "note:///b") as changes,
    ):
        for _ in range(20):
            await server.changed("note:///a")
        await server.changed("note:///b")
        await client.ping()
        await client.ping()
        seen = [await anext(changes), await anext(changes)]
    assert set(seen) == {Change("updated", "note:///a"), Change("updated", "note:///b")}
