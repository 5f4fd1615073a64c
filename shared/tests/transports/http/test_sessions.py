"""The session form on the wire: how a session begins, is named and ends, and which POSTs it takes (4.2)."""

import json
from collections.abc import AsyncGenerator
from typing import Any, cast

import anyio
import httpx
import pytest
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.transports.http.sessions import Sessions
from mcp_server_core.transports.http.settings import HttpSettings
from mcp_server_core.transports.http.streams import Reader

from ...protocol.oracle import check
from .serving import (
    HANDSHAKE,
    META,
    NEWEST,
    PATIENCE,
    PLAIN,
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
BATCHES = "2025-03-26"
NO_BATCHES = [revision for revision in HANDSHAKE if revision != BATCHES]
ECHO = {"name": "echo", "arguments": {"text": "hi"}}


@pytest.fixture
def shop() -> Workshop:
    """What the server under test is made of."""
    return Workshop()


@pytest.fixture
async def web(shop: Workshop) -> AsyncGenerator[Web]:
    """A client of it."""
    async with serving(shop.server) as web:
        yield web


# How it begins.


async def test_initialize_is_answered_with_a_session(web: Web, old: Revision) -> None:  # H-18, L-4
    reply = await web.post(initialize(old))
    check(reply.json, old, "initialize")
    assert (reply.json["result"]["protocolVersion"], bool(reply.fields["mcp-session-id"])) == (old, True)


@pytest.mark.parametrize("offered", [NEWEST, "2030-01-01", "1.0", ""])
async def test_an_unknown_offer_is_answered_with_the_newest(web: Web, offered: str) -> None:  # L-5, L-15
    assert (await web.post(initialize(offered))).json["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("version", [None, "2025-06-18", NEWEST, "nonsense"])
async def test_initialize_does_not_look_at_the_version_header(web: Web, version: str | None) -> None:
    reply = await web.post(initialize("2025-06-18"), {"mcp-protocol-version": version})  # 2.5 step 9
    assert (reply.status, reply.json["result"]["protocolVersion"]) == (200, "2025-06-18")


async def test_initialize_may_be_answered_by_a_stream(web: Web, old: Revision) -> None:  # H-5, H-18
    reply = await web.post(initialize(old), {"accept": "text/event-stream"})
    check(reply.messages[0], old, "initialize")
    assert "mcp-session-id" in reply.fields


async def test_session_ids_are_visible_ascii_and_never_the_same(web: Web) -> None:  # H-19
    ids = [(await web.post(initialize("2025-11-25"))).fields["mcp-session-id"] for _ in range(5)]
    assert all(len(id) >= 22 and all("!" <= letter <= "~" for letter in id) for id in ids)
    assert len(set(ids)) == 5


@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": 5}, {"protocolVersion": "2025-11-25"}])
async def test_an_initialize_that_is_refused_opens_no_session(web: Web, params: Json | None) -> None:  # L-1
    reply = await web.post(request("initialize", params))
    assert (reply.code, "mcp-session-id" in reply.fields) == (-32602, False)


async def test_a_second_initialize_is_refused(web: Web, old: Revision) -> None:  # L-16
    peer = await web.open(old)
    reply = await peer.post(initialize(old, id=5))
    assert (reply.code, reply.json["id"], "mcp-session-id" in reply.fields) == (-32600, 5, False)


async def test_initialize_with_a_session_that_is_gone_opens_another(web: Web) -> None:  # H-25, 2.5 step 9
    reply = await web.post(initialize("2025-11-25"), {"mcp-session-id": "gone"})
    assert reply.fields["mcp-session-id"] != "gone"


async def test_there_is_room_for_so_many_sessions_and_no_more(shop: Workshop) -> None:
    async with serving(shop.server, max_sessions=1) as web:
        peer = await web.open("2025-11-25")
        refused = await web.post(initialize("2025-11-25"))
        assert (refused.status, "retry-after" in refused.fields) == (503, True)
        await web.send("DELETE", peer.fields)
        assert (await web.post(initialize("2025-11-25"))).status == 200


async def test_a_session_that_was_quiet_makes_room_for_a_new_one(shop: Workshop) -> None:
    async with serving(shop.server, max_sessions=1, session_idle_seconds=0) as web:
        assert (await web.post(initialize("2025-11-25"))).status == 200
        assert (await web.post(initialize("2025-11-25"))).status == 200


# How it is named.


async def test_a_request_in_the_session_is_answered(web: Web, old: Revision) -> None:  # H-5
    peer = await web.open(old)
    reply = await peer.call("echo", {"text": "hi"})
    assert (reply.kind, text_of(reply.json["result"])) == ("application/json", "hi")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("ping", None),
        ("tools/list", None),
        ("resources/list", {}),
        ("resources/read", {"uri": PAGE}),
        ("prompts/get", {"name": "greet", "arguments": {"name": "you"}}),
        ("logging/setLevel", {"level": "info"}),
        ("resources/subscribe", {"uri": PAGE}),
    ],
)
async def test_every_method_works_at_every_revision(
    web: Web, old: Revision, method: str, params: Json | None
) -> None:
    reply = await (await web.open(old)).ask(method, params)
    assert (reply.status, "result" in reply.json) == (200, True)


@pytest.mark.parametrize("version", [None, "2025-03-26", "2025-11-25"])
async def test_a_request_without_session_is_refused(web: Web, version: str | None) -> None:  # H-22
    reply = await web.post(request("tools/list", id=4), {"mcp-protocol-version": version})
    assert (reply.status, reply.code, reply.json["id"]) == (400, -32600, 4)


@pytest.mark.parametrize("id", ["gone", "", "é", "a" * 200])
async def test_a_session_nobody_opened_is_not_found(web: Web, id: str) -> None:  # H-24
    fields = {**PLAIN, "mcp-session-id": None}
    built = web.build("POST", fields, json.dumps(request("tools/list")).encode(), None)
    built.headers = httpx.Headers([*built.headers.raw, (b"mcp-session-id", id.encode())])
    assert (await web.exchange(built)).status == 404


async def test_what_is_not_found_repeats_its_id(web: Web) -> None:  # E-10
    assert (await web.post(request("ping", id="x"), {"mcp-session-id": "gone"})).json["id"] == "x"


async def test_unknown_methods_are_no_reason_to_start_over(web: Web, old: Revision) -> None:  # E-8
    reply = await (await web.open(old)).ask("tools/none")
    assert (reply.status, reply.code) == (200, -32601)


@pytest.mark.parametrize("claimed", HANDSHAKE)
async def test_a_claim_of_a_handshake_revision_is_answered_statelessly(
    web: Web, claimed: str
) -> None:  # L-23
    peer = await web.open("2025-11-25")
    params = {"_meta": {**envelope(), META + "protocolVersion": claimed}}
    reply = await peer.post(request("tools/list", params), {"mcp-protocol-version": claimed})
    assert (reply.status, reply.code) == (400, -32022)


async def test_an_enveloped_request_does_not_need_the_session_it_names(web: Web) -> None:  # L-43
    peer = await web.open("2025-06-18")
    fields = {"mcp-session-id": peer.id, "mcp-protocol-version": NEWEST}
    assert (await web.ask("tools/list", fields=fields)).json["result"]["resultType"] == "complete"


async def test_two_sessions_have_their_own_revisions(web: Web) -> None:  # D-13
    new, older = await web.open("2025-11-25"), await web.open("2024-11-05")
    for peer in (new, older, new):
        definition = (await peer.ask("tools/list")).json["result"]["tools"][0]
        assert ("title" in definition) == (peer is new)


# The version header.


@pytest.mark.parametrize("verb", ["POST", "GET", "DELETE"])
@pytest.mark.parametrize("version", ["1999-01-01", "nonsense", ""])
async def test_an_unknown_version_is_refused(
    web: Web, old: Revision, verb: str, version: str
) -> None:  # H-30
    peer = await web.open(old)
    body = json.dumps(request("ping")).encode() if verb == "POST" else b""
    reply = await web.send(verb, {**peer.fields, "mcp-protocol-version": version}, body)
    assert (reply.status, reply.code) == (400, -32022)


@pytest.mark.parametrize("version", [None, *HANDSHAKE])
async def test_the_session_knows_its_revision_better_than_the_header(
    web: Web, old: Revision, version: str | None
) -> None:  # H-29, H-31
    peer = await web.open(old)
    assert (await peer.ask("tools/list", fields={"mcp-protocol-version": version})).status == 200


async def test_the_stateless_version_is_no_version_of_a_session(web: Web) -> None:  # 2.5 step 10
    peer = await web.open("2025-11-25")
    reply = await peer.post(request("tools/list"), {"mcp-protocol-version": NEWEST})
    assert (reply.status, reply.code) == (400, -32602)


# What is posted without being answered.


@pytest.mark.parametrize(
    "message",
    [
        notice("notifications/cancelled", {"requestId": 99}),
        notice("notifications/roots/list_changed"),
        notice("notifications/made/up"),
        {"jsonrpc": "2.0", "method": "notifications/progress", "params": 5},
        {"jsonrpc": "2.0", "id": 99, "result": {}},
        {"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "no"}},
    ],
)
async def test_notifications_and_answers_are_accepted_without_a_word(
    web: Web, old: Revision, message: Json
) -> None:  # H-4, D-5
    reply = await (await web.open(old)).post(message)
    assert (reply.status, reply.body) == (202, b"")


async def test_an_answer_without_session_is_refused(web: Web) -> None:  # 2.5 step 14
    assert (await web.post({"jsonrpc": "2.0", "id": 1, "result": {}})).status == 400


async def test_a_notification_for_a_session_that_is_gone_is_not_found(web: Web) -> None:  # H-24
    assert (await web.post(notice("notifications/initialized"), {"mcp-session-id": "gone"})).status == 404


# Forms of the answer.


async def test_a_client_of_streams_alone_gets_a_stream(web: Web, old: Revision) -> None:  # H-5, D-2
    reply = await (await web.open(old)).call("echo", {"text": "hi"}, fields={"accept": "text/event-stream"})
    assert text_of(reply.messages[0]["result"]) == "hi"


async def test_a_client_of_json_alone_gets_json(web: Web, old: Revision) -> None:  # D-2
    peer = await web.open(old)
    reply = await peer.call(
        "count", {"to": 2}, meta={"progressToken": 1}, fields={"accept": "application/json"}
    )
    assert text_of(reply.json["result"]) == "counted to 2"


@pytest.mark.parametrize(
    ("field", "value", "status"), [("accept", "text/html", 406), ("content-type", "text/plain", 415)]
)
async def test_types_that_nobody_speaks_are_refused(
    web: Web, field: str, value: str, status: int
) -> None:  # D-2
    assert (await (await web.open("2025-11-25")).call("echo", fields={field: value})).status == status


# Batches.


async def test_a_batch_is_answered_by_an_array(web: Web) -> None:  # J-9, J-10
    peer = await web.open(BATCHES)
    batch = [request("ping", id=1), request("tools/call", ECHO, "two"), notice("notifications/made/up")]
    reply = await peer.post(batch)
    check(reply.json, BATCHES)
    assert {answer["id"] for answer in reply.json} == {1, "two"}


async def test_a_batch_with_reports_is_a_stream_that_ends_with_the_array(web: Web) -> None:  # H-8
    peer = await web.open(BATCHES)
    call = {"name": "count", "arguments": {"to": 1}, "_meta": {"progressToken": 5}}
    said = (await peer.post([request("tools/call", call), request("ping", id=2)])).messages
    assert (said[0]["method"], len(said[-1])) == ("notifications/progress", 2)


@pytest.mark.parametrize(
    "batch",
    [
        [notice("notifications/made/up"), notice("notifications/made/up")],
        [{"jsonrpc": "2.0", "id": 9, "result": {}}],
    ],
)
async def test_a_batch_that_asks_nothing_is_accepted(web: Web, batch: Any) -> None:  # H-4, J-10
    reply = await (await web.open(BATCHES)).post(batch)
    assert (reply.status, reply.body) == (202, b"")


async def test_an_element_that_is_no_message_gets_an_error_of_its_own(web: Web) -> None:  # J-10
    reply = await (await web.open(BATCHES)).post([request("ping", id=1), 5, {"id": 7}])
    assert sorted(answer.get("id", 0) for answer in reply.json) == [0, 1, 7]


@pytest.mark.parametrize("batch", [[5], [{"id": 7}, notice("x")], [{"jsonrpc": "2.0", "id": 1, "method": 5}]])
async def test_a_batch_of_nothing_that_can_be_answered_is_refused(web: Web, batch: Any) -> None:  # J-10
    reply = await (await web.open(BATCHES)).post(batch)
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize(
    "batch",
    [
        [],
        [request("ping"), initialize(BATCHES, id=2)],
        [request("tools/list", {"_meta": envelope()})],
        [request("tools/list", {"_meta": {META + "protocolVersion": BATCHES}})],
        [request("ping", id=number) for number in range(257)],
    ],
)
async def test_an_array_that_is_no_batch_is_refused(web: Web, batch: Any) -> None:  # 2.5 step 6, L-12
    reply = await (await web.open(BATCHES)).post(batch)
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize("opening", [initialize(BATCHES), request("ping", {"_meta": envelope()})])
async def test_what_opens_something_makes_no_batch_in_any_session(web: Web, opening: Json) -> None:
    reply = await web.post([opening], {"mcp-session-id": "gone"})  # 2.5: step 6 comes before step 12
    assert (reply.status, reply.code) == (400, -32600)


async def test_a_batch_does_not_use_an_id_twice(web: Web) -> None:  # J-3
    reply = await (await web.open(BATCHES)).post([request("ping", id=1), request("ping", id=1)])
    assert (reply.status, reply.code) == (400, -32600)


@pytest.mark.parametrize("revision", NO_BATCHES)
async def test_other_revisions_have_no_batches(web: Web, revision: Revision) -> None:  # J-11
    reply = await (await web.open(revision)).post([request("ping")])
    assert (reply.status, reply.code) == (400, -32600)


async def test_a_batch_without_session_is_refused(web: Web) -> None:  # 2.5 step 6
    reply = await web.post([request("ping")], {"mcp-protocol-version": BATCHES})
    assert (reply.status, reply.code) == (400, -32600)


async def test_a_batch_for_a_session_that_is_gone_is_not_found(web: Web) -> None:  # H-24
    assert (await web.post([request("ping")], {"mcp-session-id": "gone"})).status == 404


# How it ends.


async def test_a_deleted_session_is_gone(web: Web, old: Revision) -> None:  # H-24, H-27
    peer = await web.open(old)
    deleted = await web.send("DELETE", peer.fields)
    assert (deleted.status, deleted.body) == (204, b"")
    for verb in ("POST", "GET", "DELETE"):
        body = json.dumps(request("ping")).encode() if verb == "POST" else b""
        assert (await web.send(verb, peer.fields, body)).status == 404


@pytest.mark.parametrize(("id", "status"), [(None, 400), ("gone", 404)])
@pytest.mark.parametrize("verb", ["GET", "DELETE"])
async def test_verbs_of_a_session_need_one(
    web: Web, verb: str, id: str | None, status: int
) -> None:  # H-22, H-24
    assert (await web.send(verb, {**PLAIN, "mcp-session-id": id})).status == status


async def test_deleting_one_session_leaves_the_other(web: Web) -> None:
    one, two = await web.open("2025-11-25"), await web.open("2025-11-25")
    await web.send("DELETE", one.fields)
    assert (await two.ask("ping")).status == 200


async def test_deleting_a_session_ends_its_streams_and_cancels_its_calls(web: Web, shop: Workshop) -> None:
    peer = await web.open("2025-11-25")
    call = {"reports": 1}
    async with (
        peer.standing() as standing,
        peer.calling("wait", call, _meta={"progressToken": 1}) as stream,
    ):
        await stream.message()
        await web.send("DELETE", peer.fields)
        assert (await standing.rest(), await stream.rest()) == ([], [])
        with anyio.fail_after(PATIENCE):
            await shop.events.cancelled.wait()


async def test_a_call_that_waits_for_json_learns_that_its_session_is_gone(web: Web, shop: Workshop) -> None:
    peer = await web.open("2025-11-25")
    statuses: list[int] = []

    async def call() -> None:
        statuses.append((await peer.call("wait", fields={"accept": "application/json"})).status)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        with anyio.fail_after(PATIENCE):
            await shop.events.started.wait()
        await web.send("DELETE", peer.fields)
    assert statuses == [404]  # H-24


async def test_an_idle_session_expires(shop: Workshop) -> None:  # D-9
    async with serving(shop.server, session_idle_seconds=0.2) as web:
        peer = await web.open("2025-11-25")
        for pause in (0.5, 1.0, 2.0):  # each question makes it live longer
            await anyio.sleep(pause)
            if (await peer.post(notice("notifications/made/up"))).status == 404:
                return
        pytest.fail("it is still there")


async def test_a_session_with_a_call_in_flight_does_not_expire(shop: Workshop) -> None:  # D-9
    async with serving(shop.server, session_idle_seconds=0.2) as web:
        peer = await web.open("2025-11-25")
        async with peer.calling("wait", {"reports": 1}, _meta={"progressToken": 1}) as stream:
            await stream.message()
            await anyio.sleep(0.5)
            shop.events.go.set()
            assert text_of((await stream.rest())[-1]["result"]) == "waited"


async def test_a_session_whose_standing_stream_is_read_does_not_expire(shop: Workshop) -> None:  # D-9
    async with serving(shop.server, session_idle_seconds=0.2) as web:
        peer = await web.open("2025-11-25")
        async with peer.standing() as standing:
            await anyio.sleep(0.5)
            await shop.server.add(shop.extra)
            assert (await standing.message())["method"] == "notifications/tools/list_changed"


class _Deaf:
    """A server that never answers."""

    async def serve(self, channel: Any, *, principal: str = "") -> None:
        await anyio.sleep_forever()


async def test_a_session_is_idle_from_the_end_of_what_it_did_last() -> None:  # D-9
    clock = 0.0
    settings = HttpSettings(session_idle_seconds=100)
    async with anyio.create_task_group() as tasks:
        sessions = Sessions(cast("Any", _Deaf()), settings, tasks, now=lambda: clock)
        reading, calling = await sessions.open(""), await sessions.open("")
        assert reading is not None
        assert calling is not None
        reader = Reader(reading.standing, 0, None)
        calling.deliver(request("tools/list"), takes_events=True)
        clock = 1000.0
        await sessions.expire()
        reader.leave()
        await calling.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        clock = 1100.0
        await sessions.expire()
        assert len(sessions) == 2
        clock = 1101.0
        await sessions.expire()
        assert len(sessions) == 0
        tasks.cancel_scope.cancel()


async def test_another_verb_is_told_which_ones_there_are(web: Web) -> None:  # H-1
    assert (await web.send("PUT", PLAIN)).fields["allow"] == "POST, GET, DELETE"
