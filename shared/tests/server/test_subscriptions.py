"""Change notices: one `changed`, every subscriber of either era, each exactly once."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp_server_core import Context, Registry, Server
from mcp_server_core.errors import LocalProtocolError
from mcp_server_core.protocol.messages import Json, RequestId
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.server.connection import MAX_LISTENERS
from mcp_server_core.server.subscriptions import MAX_URIS
from mcp_server_core.testing import wire
from mcp_server_core.transports.memory import BUFFERED

from .talking import NEWEST, PATIENCE, SUBSCRIPTION, Peer, serving, talk

pytestmark = pytest.mark.anyio
UPDATED = "notifications/resources/updated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def notes() -> Registry:
    part = Registry()

    @part.resource("note:///{title}", "Note", watch=True)
    async def note(title: str) -> str:
        return title

    @part.resource("fixed:///still", "Still")
    async def still() -> str:
        return ""

    @part.tool("Touch", destructive=False, idempotent=True, open_world=False)
    async def touch(uri: str, ctx: Context[None]) -> str:
        """Change a note."""
        await ctx.changed(uri)
        return "touched"

    @part.prompt("Say")
    async def say() -> str:
        """Say."""
        return ""

    return part


def more() -> Registry:
    """A part with one of everything, to add and to take back."""
    part = Registry()

    @part.tool("New", read_only=True, open_world=False)
    async def new() -> str:
        """New."""
        return "new"

    @part.prompt("New")
    async def new_prompt() -> str:
        """New."""
        return ""

    @part.resource("new:///a", "New")
    async def new_resource() -> str:
        return ""

    return part


@asynccontextmanager
async def peers(server: Server[Any], *revisions: Revision) -> AsyncGenerator[list[Peer]]:
    """Several peers of one server."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(server.running())
        yield [await stack.enter_async_context(talk(server, revision)) for revision in revisions]


async def listen(peer: Peer, id: RequestId | None = None, **wanted: Any) -> tuple[RequestId, Json]:
    """Open a listen stream: its id, and what was accepted."""
    id = await peer.post("subscriptions/listen", {"notifications": wanted}, id=id)
    acknowledged = await peer.heard(ACKNOWLEDGED)
    assert acknowledged["params"]["_meta"] == {SUBSCRIPTION: id}
    return id, acknowledged["params"]["notifications"]


def methods(messages: list[Json]) -> list[str]:
    return [message["method"] for message in messages]


async def test_every_subscriber_of_either_era_hears_of_a_change_exactly_once() -> None:
    revisions: tuple[Revision, ...] = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEWEST, NEWEST)
    server = serving(notes())
    async with peers(server, *revisions) as all_peers:
        streams = [await peer.watch("note:///a") for peer in all_peers]
        await server.changed("note:///a")
        for peer, stream in zip(all_peers, streams, strict=True):
            params: Json = {"uri": "note:///a"}
            if stream is not None:
                params["_meta"] = {SUBSCRIPTION: stream}
            assert await peer.settle() == [{"jsonrpc": "2.0", "method": UPDATED, "params": params}]


async def test_a_change_made_by_a_call_reaches_the_caller_too(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        await peer.watch("note:///a")
        await peer.call("touch", {"uri": "note:///a"})
        assert methods(await peer.settle()) == [UPDATED]


async def test_a_change_of_something_else_is_not_told(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        await peer.watch("note:///a")
        await peer.call("touch", {"uri": "note:///b"})
        assert await peer.settle() == []


async def test_who_did_not_subscribe_hears_nothing(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        await peer.call("touch", {"uri": "note:///a"})
        assert await peer.settle() == []


async def test_changes_are_told_again_and_again(revision: Revision) -> None:
    async with talk(serving(notes()), revision) as peer:
        await peer.watch("note:///a")
        for _ in range(3):
            await peer.call("touch", {"uri": "note:///a"})
            await peer.heard(UPDATED)


async def test_subscribing_twice_is_subscribing_once(old: Revision) -> None:
    async with talk(serving(notes()), old) as peer:
        await peer.watch("note:///a", "note:///a")
        await peer.call("touch", {"uri": "note:///a"})
        assert methods(await peer.settle()) == [UPDATED]


async def test_nothing_comes_after_unsubscribing(old: Revision) -> None:
    async with talk(serving(notes()), old) as peer:
        await peer.watch("note:///a")
        assert await peer.result("resources/unsubscribe", {"uri": "note:///a"}) == {}
        await peer.call("touch", {"uri": "note:///a"})
        assert await peer.settle() == []


async def test_unsubscribing_the_unknown_does_no_harm(old: Revision) -> None:
    async with talk(serving(notes()), old) as peer:
        assert await peer.result("resources/unsubscribe", {"uri": "note:///never"}) == {}
        assert await peer.result("resources/unsubscribe", {"uri": "nope:///never"}) == {}


@pytest.mark.parametrize("uri", ["nope:///a", "fixed:///still", ""])
async def test_what_cannot_be_watched_cannot_be_subscribed_to(old: Revision, uri: str) -> None:
    async with talk(serving(notes()), old) as peer:
        assert (await peer.error("resources/subscribe", {"uri": uri}))["code"] == -32002


@pytest.mark.parametrize("method", ["resources/subscribe", "resources/unsubscribe"])
async def test_the_old_methods_are_gone_in_the_stateless_era(method: str) -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        assert (await peer.error(method, {"uri": "note:///a"}))["code"] == -32601


async def test_listening_is_unknown_to_the_handshake_era(old: Revision) -> None:
    async with talk(serving(notes()), old) as peer:
        assert (await peer.error("subscriptions/listen", {"notifications": {}}))["code"] == -32601


@pytest.mark.parametrize(
    ("wanted", "accepted"),
    [
        ({}, {}),
        ({"toolsListChanged": True}, {"toolsListChanged": True}),
        ({"toolsListChanged": False}, {}),
        ({"toolsListChanged": "yes"}, {}),
        (
            {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True},
            {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True},
        ),
        ({"taskIds": ["a"], "somethingNew": True}, {}),
        (
            {"resourceSubscriptions": ["note:///a", "nope:///b", "fixed:///still", "note:///a"]},
            {"resourceSubscriptions": ["note:///a"]},
        ),
        ({"resourceSubscriptions": []}, {}),
    ],
)
async def test_the_acknowledgement_names_what_was_accepted(wanted: Json, accepted: Json) -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        _, found = await listen(peer, **wanted)
        assert found == accepted  # SU-10


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"notifications": None},
        {"notifications": []},
        {"notifications": {"resourceSubscriptions": "note:///a"}},
        {"notifications": {"resourceSubscriptions": [1]}},
        {"notifications": {"resourceSubscriptions": [None]}},
    ],
)
async def test_a_malformed_filter_is_refused(params: Json) -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        assert (await peer.error("subscriptions/listen", params))["code"] == -32602


async def test_a_listen_stream_watches_no_more_than_so_many_resources() -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        wanted = [f"note:///{number}" for number in range(MAX_URIS + 1)]
        params = {"notifications": {"resourceSubscriptions": wanted}}
        assert (await peer.error("subscriptions/listen", params))["code"] == -32602
        _, found = await listen(peer, resourceSubscriptions=wanted[1:])
        assert found == {"resourceSubscriptions": wanted[1:]}


async def test_a_session_watches_no_more_than_so_many_resources() -> None:
    async with talk(serving(notes()), "2025-11-25") as peer:
        for number in range(MAX_URIS):
            await peer.result("resources/subscribe", {"uri": f"note:///{number}"})
        error = await peer.error("resources/subscribe", {"uri": "note:///more"})
        assert error["code"] == -32602
        await peer.result("resources/subscribe", {"uri": "note:///0"})
        await peer.result("resources/unsubscribe", {"uri": "note:///0"})
        await peer.result("resources/subscribe", {"uri": "note:///more"})


@pytest.mark.parametrize("id", [0, 7, "7", "", "a b"])
async def test_the_id_of_a_stream_keeps_its_type(id: RequestId) -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        await listen(peer, id, resourceSubscriptions=["note:///a"])
        await server.changed("note:///a")
        notice = await peer.heard(UPDATED)
    found = notice["params"]["_meta"][SUBSCRIPTION]
    assert found == id
    assert type(found) is type(id)  # SU-2


async def test_streams_of_one_connection_are_told_apart() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        await listen(peer, 1, resourceSubscriptions=["note:///a"])
        await listen(peer, "1", resourceSubscriptions=["note:///a", "note:///b"])
        await server.changed("note:///a")
        await server.changed("note:///b")
        found = [
            (notice["params"]["uri"], notice["params"]["_meta"][SUBSCRIPTION])
            for notice in await peer.settle()
        ]
    assert sorted(found, key=str) == sorted(
        [("note:///a", 1), ("note:///a", "1"), ("note:///b", "1")], key=str
    )


async def test_the_acknowledgement_comes_before_every_notice_of_its_stream() -> None:
    server = serving(notes())
    first: dict[RequestId, str] = {}
    async with talk(server, NEWEST) as peer, anyio.create_task_group() as tasks:

        async def busy() -> None:
            while True:
                await server.changed("note:///a")

        tasks.start_soon(busy)
        for number in range(10):
            await peer.post(
                "subscriptions/listen", {"notifications": {"resourceSubscriptions": ["note:///a"]}}, id=number
            )
        with anyio.fail_after(PATIENCE):
            while len(first) < 10:
                message = await peer.channel.receive()
                first.setdefault(message["params"]["_meta"][SUBSCRIPTION], message["method"])
        tasks.cancel_scope.cancel()
    assert set(first.values()) == {ACKNOWLEDGED}  # SU-1


async def test_nothing_comes_after_a_stream_was_cancelled() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        id, _ = await listen(peer, resourceSubscriptions=["note:///a"])
        await peer.cancel(id)
        await peer.settle()
        await server.changed("note:///a")
        assert await peer.settle() == []  # SU-9
        assert server.subscriptions.uris == frozenset()


async def test_a_cancelled_stream_leaves_the_others_alone() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        one, _ = await listen(peer, resourceSubscriptions=["note:///a"])
        two, _ = await listen(peer, resourceSubscriptions=["note:///a"])
        await peer.cancel(one)
        await peer.settle()
        await server.changed("note:///a")
        (notice,) = await peer.settle()
    assert notice["params"]["_meta"][SUBSCRIPTION] == two


async def test_the_id_of_a_cancelled_stream_can_be_used_again() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        for _ in range(3):
            await listen(peer, 1, resourceSubscriptions=["note:///a"])
            await peer.cancel(1)
        await listen(peer, 1, resourceSubscriptions=["note:///a"])
        await server.changed("note:///a")
        assert methods(await peer.settle()) == [UPDATED]


async def test_the_number_of_streams_is_bounded_and_the_connection_survives() -> None:
    async with talk(serving(notes()), NEWEST) as peer:
        for _ in range(MAX_LISTENERS):
            await listen(peer)
        error = await peer.error("subscriptions/listen", {"notifications": {}})
        assert str(MAX_LISTENERS) in error["message"]
        assert await peer.settle() == []


async def test_a_server_with_nothing_to_watch_does_not_know_listening() -> None:
    async with talk(serving(), NEWEST) as peer:
        assert (await peer.error("subscriptions/listen", {"notifications": {}}))["code"] == -32601


async def test_stopping_ends_a_stream_with_its_result_and_then_cancelled() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        id, _ = await listen(peer, resourceSubscriptions=["note:///a"])
        await server.changed("note:///a")
        await server.stop()
        await peer.settle()
        notice, result, cancelled = peer.held
    assert notice["method"] == UPDATED, "what was said before comes before"
    assert result["id"] == id
    assert result["result"]["_meta"][SUBSCRIPTION] == id  # SU-6
    assert result["result"]["resultType"] == "complete"
    assert cancelled == {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


async def test_stopping_does_not_end_other_calls_or_disturb_handshake_clients(old: Revision) -> None:
    server = serving(notes())
    async with talk(server, old) as peer:
        await peer.watch("note:///a")
        await server.stop()
        assert await peer.settle() == []


async def test_stopping_ends_all_streams_of_all_connections() -> None:
    server = serving(notes())
    async with peers(server, NEWEST, NEWEST) as both:
        for peer in both:
            await listen(peer, 1)
            await listen(peer, "a")
        await server.stop()
        for peer in both:
            await peer.settle()
            ended = [message["id"] for message in peer.held if "result" in message]
            assert sorted(ended, key=str) == [1, "a"]


async def test_stopping_returns_when_a_peer_that_does_not_read_goes_away() -> None:
    server = serving(notes())
    stopped = anyio.Event()
    async with server.running(), anyio.create_task_group() as tasks:

        async def stop() -> None:
            await server.stop()
            stopped.set()

        with anyio.fail_after(PATIENCE):
            async with talk(server, NEWEST) as peer:
                uris = [f"note:///{number}" for number in range(BUFFERED * 2)]
                await listen(peer, resourceSubscriptions=uris)
                for uri in uris:
                    await server.changed(uri)
                tasks.start_soon(stop)
                for _ in range(50):
                    await anyio.lowlevel.checkpoint()
            await stopped.wait()


async def test_a_connection_that_is_gone_is_forgotten(revision: Revision) -> None:
    server = serving(notes())
    async with server.running():
        async with talk(server, revision) as peer:
            await peer.watch("note:///a")
            assert server.subscriptions.uris == {"note:///a"}
        assert server.subscriptions.uris == frozenset()
        await server.changed("note:///a")


async def test_changes_wait_only_once_while_the_peer_does_not_read(revision: Revision) -> None:
    server = serving(notes())
    async with talk(server, revision) as peer:
        await peer.watch("note:///a", "note:///b")
        for _ in range(500):
            await server.changed("note:///a")
            await server.changed("note:///b")
        notices = await peer.settle()
    uris = [notice["params"]["uri"] for notice in notices]
    assert set(uris) == {"note:///a", "note:///b"}
    assert len(uris) <= BUFFERED + 4


async def test_a_change_after_the_last_notice_was_read_is_never_lost(revision: Revision) -> None:
    server = serving(notes())
    async with talk(server, revision) as peer:
        await peer.watch("note:///a")
        for _ in range(200):
            await server.changed("note:///a")
            await peer.heard(UPDATED)
            peer.held.clear()


async def test_what_waits_for_a_slow_reader_is_forgotten_when_it_unsubscribes() -> None:
    server = serving(notes())
    async with talk(server, "2025-11-25") as peer:
        uris = [f"note:///{number}" for number in range(BUFFERED * 3)]
        await peer.watch(*uris)
        for uri in uris:
            await server.changed(uri)
        id = await peer.post("resources/unsubscribe", {"uri": uris[-1]})
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        await peer.response(id)
        peer.held.clear()
        late = [notice["params"]["uri"] for notice in await peer.settle() if "method" in notice]
    assert uris[-1] not in late


async def test_lists_that_changed_are_told_to_handshake_clients(old: Revision) -> None:
    server, part = serving(notes()), more()
    async with talk(server, old) as peer:
        await server.add(part)
        expected = [f"notifications/{kind}/list_changed" for kind in ("prompts", "resources", "tools")]
        assert sorted(methods(await peer.settle())) == expected
        peer.held.clear()
        await server.remove(part)
        assert sorted(methods(await peer.settle())) == expected


async def test_lists_that_did_not_change_are_not_told() -> None:
    server, part = serving(notes()), Registry()

    @part.prompt("Only this")
    async def only() -> str:
        """Only."""
        return ""

    async with talk(server, "2025-11-25") as peer:
        await server.add(part)
        assert methods(await peer.settle()) == ["notifications/prompts/list_changed"]


async def test_a_stateless_client_hears_only_of_the_lists_it_asked_for() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        id, _ = await listen(peer, promptsListChanged=True)
        await server.add(more())
        (notice,) = await peer.settle()
    assert notice == {  # SU-3, T-15
        "jsonrpc": "2.0",
        "method": "notifications/prompts/list_changed",
        "params": {"_meta": {SUBSCRIPTION: id}},
    }


async def test_a_stateless_client_that_asked_for_nothing_hears_nothing() -> None:
    server = serving(notes())
    async with talk(server, NEWEST) as peer:
        await peer.settle()
        await server.add(more())
        await server.resources_changed()
        assert await peer.settle() == []  # L-44


async def test_a_client_in_the_middle_of_its_handshake_hears_nothing() -> None:
    server = serving(notes())
    async with wire(server) as channel:
        peer = Peer(channel, "2025-11-25", {}, None)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": peer.client}
        await peer.plain("initialize", params)
        await server.add(more())
        assert await peer.settle() == []  # L-10
        await peer.notify("notifications/initialized")
        await peer.settle()
        await server.resources_changed()
        assert methods(await peer.settle()) == ["notifications/resources/list_changed"]


async def test_a_list_that_was_never_declared_is_never_told() -> None:
    """L-11: a server without tools declared no `tools.listChanged`; the client does not wait for it."""
    server, part = serving(), more()
    async with talk(server, "2025-11-25") as peer:
        await server.add(part)
        assert await peer.settle() == []


async def test_new_tools_can_be_called_and_old_ones_no_longer(revision: Revision) -> None:
    server, part = serving(notes()), more()
    async with talk(server, revision) as peer:
        assert (await peer.error("tools/call", {"name": "new"}))["code"] == -32602
        await server.add(part)
        await peer.call("new")
        await server.remove(part)
        assert (await peer.error("tools/call", {"name": "new"}))["code"] == -32602


async def test_a_part_that_does_not_fit_changes_nothing() -> None:
    server = serving(notes())
    async with talk(server, "2025-11-25") as peer:
        with pytest.raises(LocalProtocolError):
            await server.add(notes())
        assert await peer.settle() == []
        assert len((await peer.result("tools/list"))["tools"]) == 1


class Watcher:
    """A background task that keeps what is watched."""

    def __init__(self) -> None:
        self.seen: list[frozenset[str]] = []
        self.woke = anyio.Event()

    async def run(self, server: Server[None], state: None) -> None:
        async for uris in server.watching():
            self.seen.append(uris)
            self.woke.set()

    async def until(self, *uris: str) -> None:
        with anyio.fail_after(PATIENCE):
            while not self.seen or self.seen[-1] != frozenset(uris):
                self.woke = anyio.Event()
                await self.woke.wait()


async def test_a_background_task_knows_what_is_watched(revision: Revision) -> None:
    watcher = Watcher()
    server = serving(notes(), background=[watcher.run])
    async with server.running():
        await watcher.until()
        async with talk(server, revision) as peer:
            await peer.watch("note:///a", "note:///b")
            await watcher.until("note:///a", "note:///b")
        await watcher.until()


async def test_several_background_tasks_know_what_is_watched() -> None:
    watchers = [Watcher(), Watcher(), Watcher()]
    server = serving(notes(), background=[watcher.run for watcher in watchers])
    async with server.running():
        for watcher in watchers:
            await watcher.until()
        async with talk(server, NEWEST) as peer:
            await peer.watch("note:///a")
            for watcher in watchers:
                await watcher.until("note:///a")


async def test_a_resource_stays_watched_until_the_last_watcher_left() -> None:
    server = serving(notes())
    async with peers(server, "2025-11-25", NEWEST) as (one, two):
        await one.watch("note:///a")
        stream = await two.watch("note:///a")
        await one.result("resources/unsubscribe", {"uri": "note:///a"})
        assert server.subscriptions.uris == {"note:///a"}
        assert stream is not None
        await two.cancel(stream)
        await two.settle()
        assert server.subscriptions.uris == frozenset()


async def test_a_handler_can_say_that_the_list_of_resources_changed(old: Revision) -> None:
    part = notes()

    @part.tool("Begin a note", destructive=False, idempotent=False, open_world=False)
    async def begin(ctx: Context[None]) -> str:
        """Begin a note."""
        await ctx.resources_changed()
        return "begun"

    async with talk(serving(part), old) as peer:
        await peer.call("begin")
        assert methods(await peer.settle()) == ["notifications/resources/list_changed"]
