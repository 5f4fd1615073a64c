"""Both eras on one connection, and what a handler sees of its client."""

import pytest
from mcp_server_core import Context, Registry
from mcp_server_core.protocol.messages import Json, Request
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.testing import wire

from .talking import META, NEWEST, SUBSCRIPTION, Peer, connect, serving, talk, text_of

pytestmark = pytest.mark.anyio


def mirror(seen: list[Json]) -> Registry:
    """A tool that keeps what it sees of the client."""
    part = Registry()

    @part.tool("Look", read_only=True, open_world=False)
    async def look(ctx: Context[None]) -> str:
        """Look at the client."""
        seen.append(
            {
                "client": dict(ctx.client),
                "session": ctx.session,
                "peer": ctx.peer,
                "meta": dict(ctx.meta),
                "supports": {name: ctx.supports(name) for name in ("roots", "sampling", "elicitation")},
            }
        )
        return "seen"

    @part.resource("note:///a", "Note", watch=True)
    async def note() -> str:
        return ""

    return part


async def test_a_handler_sees_who_calls_and_what_it_can(revision: Revision) -> None:
    seen: list[Json] = []
    capabilities = {"sampling": {}, "roots": {}}
    async with talk(
        serving(mirror(seen)), revision, capabilities, client={"name": "c", "version": "2"}
    ) as peer:
        await peer.response(await peer.post_call("look", meta={"traceparent": "00-1-2-01"}))
    (sight,) = seen
    assert sight["client"] == {"name": "c", "version": "2"}
    assert sight["supports"] == {"roots": True, "sampling": True, "elicitation": False}
    assert sight["meta"]["traceparent"] == "00-1-2-01"


async def test_a_session_has_one_name_and_a_stateless_client_has_none(revision: Revision) -> None:
    seen: list[Json] = []
    server = serving(mirror(seen))
    async with server.running():
        async with talk(server, revision) as one:
            await one.call("look")
            await one.call("look")
        async with talk(server, revision) as two:
            await two.call("look")
    names = [sight["session"] for sight in seen]
    if revision == NEWEST:
        assert names == [None, None, None]
    else:
        assert names[0] == names[1] != names[2]


async def test_a_connection_has_one_name_in_either_era(revision: Revision) -> None:
    seen: list[Json] = []
    server = serving(mirror(seen))
    async with server.running():
        async with talk(server, revision) as one:
            await one.call("look")
            await one.call("look")
        async with talk(server, revision) as two:
            await two.call("look")
    first, again, other = [sight["peer"] for sight in seen]
    assert first is not None
    assert first == again != other


async def test_a_request_that_came_alone_has_no_name() -> None:
    seen: list[Json] = []
    server = serving(mirror(seen))
    meta = {META + "protocolVersion": NEWEST, META + "clientCapabilities": {}}

    async def say(message: Json) -> None:
        raise AssertionError(message)

    async with server.running():
        await server.exchange(Request(1, "tools/call", {"name": "look", "_meta": meta}), say, principal="p")
    assert seen[0]["peer"] is None


async def test_a_stateless_client_may_hide_who_it_is() -> None:
    seen: list[Json] = []
    async with wire(serving(mirror(seen))) as channel:
        peer = Peer(channel, NEWEST, {}, None)
        meta = {META + "protocolVersion": NEWEST, META + "clientCapabilities": {}}
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "look", "_meta": meta},
        }
        await peer.channel.send(message)
        assert "result" in await peer.response(1)  # L-21
    assert seen[0]["client"] == {}


async def test_both_eras_take_turns_on_one_connection(old: Revision) -> None:
    """L-43: neither changes how the other is served."""
    seen: list[Json] = []
    server = serving(mirror(seen))
    async with wire(server) as channel:
        peer = Peer(channel, NEWEST, {"sampling": {}}, None)
        assert "resultType" in await peer.call("look")
        peer.revision, peer.capabilities = old, {"roots": {}}
        assert (await peer.open())["protocolVersion"] == old
        assert await peer.call("look") == {"content": [{"type": "text", "text": "seen"}]}
        peer.revision, peer.capabilities = NEWEST, {}
        assert (await peer.call("look"))["resultType"] == "complete"
        peer.revision = old
        assert "resultType" not in await peer.call("look")
    assert [sight["supports"]["roots"] for sight in seen] == [False, True, False, True]
    assert [sight["supports"]["sampling"] for sight in seen] == [True, False, False, False]  # L-27
    assert [sight["session"] is None for sight in seen] == [True, False, True, False]


async def test_both_eras_watch_on_one_connection(old: Revision) -> None:
    server = serving(mirror([]))
    async with talk(server, old) as peer:
        await peer.watch("note:///a")
        peer.revision = NEWEST
        stream = await peer.watch("note:///a")
        await server.changed("note:///a")
        notices = await peer.settle()
    found = [notice["params"].get("_meta", {}).get(SUBSCRIPTION) for notice in notices]
    assert sorted(found, key=str) == sorted([None, stream], key=str)


async def test_calls_of_both_eras_are_in_flight_together() -> None:
    seen: list[Json] = []
    async with talk(serving(mirror(seen)), "2024-11-05") as peer:
        one = await peer.post_call("look")
        peer.revision = NEWEST
        two = await peer.post_call("look")
        assert "resultType" in (await peer.response(two))["result"]
        assert "resultType" not in (await peer.response(one))["result"]


async def test_a_first_request_needs_no_discovery() -> None:
    async with wire(serving(mirror([]))) as channel:
        peer = Peer(channel, NEWEST, {}, None)
        assert text_of(await peer.call("look")) == "seen"  # CLIENTS: TypeScript 2 auto


async def test_initialize_after_discover_is_fine(old: Revision) -> None:
    async with wire(serving(mirror([]))) as channel:
        peer = Peer(channel, NEWEST, {}, None)
        await peer.result("server/discover")
        peer.revision = old
        assert (await peer.open())["protocolVersion"] == old


async def test_a_request_that_opens_neither_era_is_told_how() -> None:
    async with wire(serving(mirror([]))) as channel:
        peer = Peer(channel, NEWEST, {}, None)
        await peer.channel.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        error = (await peer.response(1))["error"]
    assert error["code"] == -32602  # L-17
    assert "initialize" in error["message"]
    assert "_meta" in error["message"]


async def test_a_server_says_who_it_is(revision: Revision) -> None:
    server = serving(mirror([]), title="Test", instructions="Be kind.")
    async with connect(server, revision=revision) as client:
        assert client.server["name"] == "test-server"
        assert client.server.get("title") == ("Test" if revision >= "2025-06-18" else None)
        assert client.instructions == "Be kind."
        assert client.revision == revision


async def test_capabilities_are_what_is_really_there(revision: Revision) -> None:
    async with connect(serving(mirror([])), revision=revision) as client:
        assert client.capabilities == {
            "logging": {},
            "resources": {"listChanged": True, "subscribe": True},
            "tools": {"listChanged": True},
        }
