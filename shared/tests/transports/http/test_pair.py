"""The old pair of endpoints: a stream to read and an address to post to, at every handshake revision (4.4)."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision

from ...protocol.oracle import check
from .serving import (
    META,
    NEWEST,
    PATIENCE,
    PLAIN,
    Reply,
    Stream,
    Web,
    envelope,
    initialize,
    notice,
    request,
    serving,
    text_of,
)
from .workshop import PAGE, Workshop

pytestmark = pytest.mark.anyio
STREAM, MESSAGES = "/sse", "/messages"


@pytest.fixture
def shop() -> Workshop:
    """What the server under test is made of."""
    return Workshop()


@pytest.fixture
async def web(shop: Workshop) -> AsyncGenerator[Web]:
    """A client of it."""
    async with serving(shop.server) as web:
        yield web


class OldPeer:
    """A client of the pair."""

    def __init__(self, web: Web, stream: Stream, address: str) -> None:
        self.web = web
        self.stream = stream
        self.address = address

    async def post(self, value: Any, **fields: str | None) -> Reply:
        """Post a message to the address."""
        sent = {**PLAIN, "accept": None, **{name.replace("_", "-"): value for name, value in fields.items()}}
        return await self.web.send("POST", sent, json.dumps(value).encode(), path=self.address)

    async def ask(self, method: str, params: Json | None = None, id: Any = 1) -> Json:
        """A request; its answer comes on the stream."""
        assert (await self.post(request(method, params, id))).status == 202
        return await self.stream.message()

    async def open(self, revision: str, capabilities: Json | None = None) -> Json:
        """The handshake."""
        await self.post(initialize(revision, capabilities))
        result = (await self.stream.message())["result"]
        await self.post(notice("notifications/initialized"))
        return result


@asynccontextmanager
async def old_client(web: Web) -> AsyncGenerator[OldPeer]:
    """A client that opens the stream and reads where to post."""
    async with web.stream("GET", {"accept": "text/event-stream"}, path=STREAM) as stream:
        event = await stream.event()
        assert event is not None
        yield OldPeer(web, stream, event.data.decode())


async def test_the_first_event_says_where_to_post(web: Web) -> None:
    async with web.stream("GET", {"accept": "text/event-stream"}, path=STREAM) as stream:
        event = await stream.event()
        assert (stream.status, event and event.event) == (200, "endpoint")


async def test_the_address_is_a_path_on_the_same_origin(web: Web) -> None:
    async with old_client(web) as peer:
        assert peer.address.startswith(f"{MESSAGES}?")


async def test_addresses_cannot_be_guessed(web: Web) -> None:
    async with old_client(web) as one, old_client(web) as two:
        ids = [peer.address.partition("=")[2] for peer in (one, two)]
    assert ids[0] != ids[1]
    assert min(map(len, ids)) >= 22


async def test_every_handshake_revision_is_spoken(web: Web, old: Revision) -> None:
    async with old_client(web) as peer:
        assert (await peer.open(old))["protocolVersion"] == old
        answer = await peer.ask("tools/call", {"name": "echo", "arguments": {"text": "hi"}})
        check(answer, old, "tools/call")
        assert text_of(answer["result"]) == "hi"


async def test_the_stateless_revision_cannot_be_agreed_on(web: Web) -> None:  # L-15
    async with old_client(web) as peer:
        assert (await peer.open(NEWEST))["protocolVersion"] == "2025-11-25"


async def test_answers_travel_on_the_stream_and_not_in_the_reply(web: Web, old: Revision) -> None:
    async with old_client(web) as peer:
        reply = await peer.post(initialize(old))
        assert (reply.status, reply.body) == (202, b"")
        event = await peer.stream.event()
        assert event is not None
        assert (event.event, json.loads(event.data)["id"]) == ("message", 0)


async def test_events_have_no_ids(web: Web, old: Revision) -> None:  # there is no resumption
    async with old_client(web) as peer:
        await peer.post(initialize(old))
        event = await peer.stream.event()
        assert event is not None
        assert event.id is None


async def test_reports_notices_and_answers_share_the_stream(
    web: Web, shop: Workshop, old: Revision
) -> None:
    async with old_client(web) as peer:
        await peer.open(old)
        await peer.ask("resources/subscribe", {"uri": PAGE})
        await shop.server.changed(PAGE)
        assert (await peer.stream.message())["method"] == "notifications/resources/updated"
        call = {"name": "count", "arguments": {"to": 1}, "_meta": {"progressToken": 1}}
        assert (await peer.ask("tools/call", call))["method"] == "notifications/progress"


async def test_the_client_is_asked_on_the_stream(web: Web, old: Revision) -> None:
    async with old_client(web) as peer:
        await peer.open(old, {"roots": {}})
        question = await peer.ask("tools/call", {"name": "roots", "arguments": {}})
        check(question, old)
        await peer.post({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": "file:///a"}]}})
        assert text_of((await peer.stream.message())["result"]) == "file:///a"


async def test_a_claim_means_nothing_here(web: Web, old: Revision) -> None:
    async with old_client(web) as peer:
        await peer.open(old)
        answer = await peer.ask("tools/list", {"_meta": envelope()})
        assert ("tools" in answer["result"], "resultType" in answer["result"]) == (True, False)


async def test_a_claim_does_not_spare_the_handshake(web: Web) -> None:
    async with old_client(web) as peer:
        answer = await peer.ask("tools/list", {"_meta": {**envelope(), META + "protocolVersion": NEWEST}})
        assert answer["error"]["code"] == -32602


async def test_a_second_initialize_is_refused(web: Web, old: Revision) -> None:  # L-16
    async with old_client(web) as peer:
        await peer.open(old)
        await peer.post(initialize(old, id=7))
        assert (await peer.stream.message())["error"]["code"] == -32600


@pytest.mark.parametrize("query", ["", "?session_id=", "?session_id=gone", "?session_id=%ff", "?other=1"])
async def test_a_session_nobody_opened_is_not_found(web: Web, query: str) -> None:
    reply = await web.send("POST", PLAIN, json.dumps(request("ping")).encode(), path=MESSAGES + query)
    assert reply.status == 404


@pytest.mark.parametrize("body", [b"", b"{", b"\xff"])
async def test_a_body_that_is_no_json_is_refused(web: Web, body: bytes) -> None:
    async with old_client(web) as peer:
        reply = await web.send("POST", PLAIN, body, path=peer.address)
        assert (reply.status, reply.code) == (400, -32700)


async def test_a_body_that_does_not_call_itself_json_is_refused(web: Web) -> None:  # D-2
    async with old_client(web) as peer:
        assert (await peer.post(request("ping"), content_type="text/plain")).status == 415


async def test_what_is_no_message_is_answered_on_the_stream(web: Web) -> None:
    async with old_client(web) as peer:
        assert (await peer.post(5)).status == 202
        assert (await peer.stream.message())["error"]["code"] == -32600


async def test_the_session_ends_with_the_stream(web: Web, shop: Workshop) -> None:
    async with old_client(web) as peer:
        await peer.open("2024-11-05")
        await peer.post(request("tools/call", {"name": "wait", "arguments": {}}))
        with anyio.fail_after(PATIENCE):
            await shop.events.started.wait()
    with anyio.fail_after(PATIENCE):
        await shop.events.cancelled.wait()
    assert (await peer.post(request("ping"))).status == 404


async def test_two_clients_do_not_hear_each_other(web: Web, shop: Workshop, old: Revision) -> None:
    async with old_client(web) as one, old_client(web) as two:
        await one.open(old)
        await two.open(old)
        await one.ask("resources/subscribe", {"uri": PAGE})
        await shop.server.changed(PAGE)
        await one.stream.message()
        assert (await two.ask("ping", id="mine"))["id"] == "mine"


async def test_an_idle_stream_is_kept_alive_by_comments(shop: Workshop) -> None:  # N-8
    async with serving(shop.server, ping_seconds=0.02) as web, old_client(web) as peer:
        while b": keep-alive\n\n: keep-alive" not in peer.stream.raw:
            assert await peer.stream.more()


async def test_the_pair_stands_beside_the_endpoint(web: Web) -> None:
    async with old_client(web) as peer:
        await peer.open("2024-11-05")
        session = await web.open("2025-11-25")
        statuses = [(await session.ask("ping")).status, (await web.ask("tools/list")).status]
        assert (statuses, (await peer.ask("ping"))["result"]) == ([200, 200], {})


@pytest.mark.parametrize(("path", "verb", "allowed"), [(STREAM, "POST", "GET"), (MESSAGES, "GET", "POST")])
async def test_each_of_the_two_has_one_verb(web: Web, path: str, verb: str, allowed: str) -> None:
    reply = await web.send(verb, PLAIN, path=path)
    assert (reply.status, reply.fields["allow"]) == (405, allowed)


async def test_there_is_room_for_so_many_streams_and_no_more(shop: Workshop) -> None:
    async with serving(shop.server, max_sessions=1) as web, old_client(web):
        assert (await web.send("GET", {"accept": "text/event-stream"}, path=STREAM)).status == 503


async def test_a_server_without_sessions_has_no_pair(shop: Workshop) -> None:
    async with serving(shop.server, sessions=False) as web:
        statuses = [
            (await web.send("GET", {"accept": "text/event-stream"}, path=STREAM)).status,
            (await web.send("POST", PLAIN, b"{}", path=MESSAGES)).status,
        ]
    assert statuses == [404, 404]
