"""Streams of a session: which message goes where, what is kept, and how a client comes back for the rest (4.2)."""

import json
from collections.abc import AsyncGenerator
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision
from mcp_server_core.transports.http.answer import Answer
from mcp_server_core.transports.http.carrying import Carrier
from mcp_server_core.transports.http.minding import Pings
from mcp_server_core.transports.http.session import HttpSession
from mcp_server_core.transports.http.streams import KEPT, KEPT_EVENTS

from ...protocol.oracle import check
from .serving import HANDSHAKE, PATIENCE, Peer, Web, notice, request, serving, text_of
from .workshop import PAGE, Workshop

pytestmark = pytest.mark.anyio
POLLS: Revision = "2025-11-25"
REPORTS: Json = {"_meta": {"progressToken": "t"}}
UPDATED = "notifications/resources/updated"
QUESTIONS: list[tuple[str, str, Json, Json, str, tuple[Revision, ...]]] = [
    (
        "ask",
        "elicitation/create",
        {"elicitation": {}},
        {"action": "accept", "content": {"sure": True}},
        "sure",
        HANDSHAKE[2:],
    ),
    (
        "sample",
        "sampling/createMessage",
        {"sampling": {}},
        {"role": "assistant", "content": {"type": "text", "text": "hm"}, "model": "m"},
        "hm",
        HANDSHAKE,
    ),
    ("roots", "roots/list", {"roots": {}}, {"roots": [{"uri": "file:///a"}]}, "file:///a", HANDSHAKE),
]
CASES = [(*case[:-1], revision) for case in QUESTIONS for revision in case[-1]]


@pytest.fixture
def shop() -> Workshop:
    """What the server under test is made of."""
    return Workshop()


@pytest.fixture
async def web(shop: Workshop) -> AsyncGenerator[Web]:
    """A client of it."""
    async with serving(shop.server) as web:
        yield web


async def watch(web: Web, revision: Revision) -> Peer:
    """A session that watches the page."""
    peer = await web.open(revision)
    assert (await peer.ask("resources/subscribe", {"uri": PAGE})).status == 200
    return peer


def methods(messages: list[Any]) -> list[str | None]:
    """The methods of messages; None for an answer."""
    return [message.get("method") for message in messages]


# The stream of a request.


async def test_reports_make_a_stream_that_ends_with_the_answer(web: Web, old: Revision) -> None:  # H-5, H-8
    reply = await (await web.open(old)).call("count", {"to": 2}, meta={"progressToken": 1})
    assert methods(reply.messages) == [
        "notifications/progress",
        "notifications/message",
        "notifications/progress",
        "notifications/message",
        None,
    ]


async def test_each_call_has_its_own_reports(web: Web, old: Revision) -> None:  # H-9, H-12
    peer = await web.open(old)
    async with anyio.create_task_group() as tasks:
        for token in range(5):
            tasks.start_soon(_count_with, peer, token)


async def _count_with(peer: Peer, token: int) -> None:
    reply = await peer.call("count", {"to": 3}, meta={"progressToken": token}, id=token)
    tokens = {said["params"].get("progressToken", token) for said in reply.messages if "method" in said}
    assert (tokens, reply.messages[-1]["id"]) == ({token}, token)


async def test_streams_ask_proxies_not_to_hold_them_back(web: Web, old: Revision) -> None:  # N-7
    peer = await web.open(old)
    reply = await peer.call("count", {"to": 1}, meta={"progressToken": 1})
    async with peer.standing() as standing:
        assert [fields["x-accel-buffering"] for fields in (reply.fields, standing.fields)] == ["no", "no"]


@pytest.mark.parametrize("standing", [True, False])
async def test_a_first_event_primes_only_clients_that_know_it(
    web: Web, old: Revision, standing: bool
) -> None:  # H-35, H-40
    peer = await watch(web, old)
    opened = peer.standing() if standing else peer.calling("count", {"to": 1}, **REPORTS)
    async with opened as stream:
        if standing and old != POLLS:
            await web.call("echo", {"text": "x"})
            assert stream.raw == b""
            return
        event = await stream.event()
        assert event is not None
        assert (event.data == b"", event.id is not None) == (old == POLLS, True)


async def test_an_id_in_use_is_refused(web: Web, shop: Workshop, old: Revision) -> None:  # J-3
    peer = await web.open(old)
    async with peer.calling("wait", {"reports": 1}, id=5, **REPORTS) as stream:
        await stream.message()
        reply = await peer.ask("ping", id=5)
        assert (reply.status, reply.code, reply.json["id"]) == (400, -32600, 5)
        assert (await peer.ask("ping", id="5")).status == 200
        shop.events.go.set()
        assert (await stream.rest())[-1]["id"] == 5


async def test_a_cancelled_call_ends_without_an_answer(
    web: Web, shop: Workshop, old: Revision
) -> None:  # CN-2
    peer = await web.open(old)
    async with peer.calling("wait", {"reports": 1}, id=5, **REPORTS) as stream:
        await stream.message()
        assert (await peer.post(notice("notifications/cancelled", {"requestId": 5}))).status == 202
        assert await stream.rest() == []
    with anyio.fail_after(PATIENCE):
        await shop.events.cancelled.wait()


@pytest.mark.parametrize("id", ["5", 6, True, None, [], 5.0])
async def test_a_cancellation_of_something_else_cancels_nothing(
    web: Web, shop: Workshop, id: Any
) -> None:  # CN-4
    peer = await web.open(POLLS)
    async with peer.calling("wait", {"reports": 1}, id=5, **REPORTS) as stream:
        await stream.message()
        await peer.post(notice("notifications/cancelled", {"requestId": id}))
        await peer.settle()
        shop.events.go.set()
        assert (await stream.rest())[-1]["id"] == 5


async def test_hanging_up_cancels_nothing(web: Web, shop: Workshop, old: Revision) -> None:  # H-10
    peer = await web.open(old)
    async with peer.calling("wait", {"reports": 1}, **REPORTS) as stream:
        await stream.message()
    await peer.settle()
    shop.events.go.set()
    with anyio.fail_after(PATIENCE):
        await shop.events.finished.wait()
    assert not shop.events.cancelled.is_set()


# The standing stream.


async def test_notices_go_to_the_standing_stream_alone(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-12, H-15
    peer = await watch(web, old)
    async with peer.standing() as standing, peer.calling("wait", {"reports": 1}, **REPORTS) as stream:
        await stream.message()
        await shop.server.changed(PAGE)
        message = await standing.message()
        check(message, old)
        shop.events.go.set()
        assert (message["method"], UPDATED in methods(await stream.rest())) == (UPDATED, False)


async def test_answers_never_go_to_the_standing_stream(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-16
    peer = await watch(web, old)
    async with peer.standing() as standing:
        await peer.call("count", {"to": 1}, meta={"progressToken": 1})
        await peer.call("echo", {"text": "x"}, id=2)
        async with peer.calling("wait", {"reports": 1}, id=3, **REPORTS) as lost:
            await lost.message()
        shop.events.go.set()
        with anyio.fail_after(PATIENCE):
            await shop.events.finished.wait()
        await peer.settle()
        await shop.server.changed(PAGE)
        assert (await standing.message())["method"] == UPDATED


async def test_a_second_standing_stream_takes_the_place_of_the_first(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-17
    peer = await watch(web, old)
    async with peer.standing() as first, peer.standing() as second:
        await shop.server.changed(PAGE)
        assert ((await second.message())["method"], await first.rest()) == (UPDATED, [])


async def test_what_is_said_while_nobody_reads_waits(web: Web, shop: Workshop, old: Revision) -> None:
    peer = await watch(web, old)
    await shop.server.changed(PAGE)
    await peer.settle()
    async with peer.standing() as standing:
        assert (await standing.message())["method"] == UPDATED


async def test_a_notice_is_not_said_twice(web: Web, shop: Workshop, old: Revision) -> None:
    peer = await watch(web, old)
    async with peer.standing() as standing:
        await shop.server.changed(PAGE)
        await standing.message()
        async with peer.standing() as second:
            await shop.server.add(shop.extra)
            assert (await second.message())["method"] == "notifications/tools/list_changed"


async def test_a_standing_stream_is_kept_alive_by_comments(shop: Workshop, old: Revision) -> None:  # N-8
    async with serving(shop.server, ping_seconds=0.02) as web, (await web.open(old)).standing() as standing:
        while b": keep-alive\n\n: keep-alive" not in standing.raw:
            assert await standing.more()


async def test_a_standing_stream_is_a_stream(web: Web) -> None:  # H-14, D-2
    assert (await (await web.open(POLLS)).get({"accept": "application/json"})).status == 406


async def test_two_sessions_do_not_hear_each_other(web: Web, shop: Workshop, old: Revision) -> None:
    one, two = await watch(web, old), await web.open(old)
    async with one.standing() as first, two.standing() as second:
        await shop.server.changed(PAGE)
        await first.message()
        await shop.server.add(shop.extra)
        assert (await second.message())["method"] == "notifications/tools/list_changed"


async def test_two_sessions_do_not_cancel_each_other(web: Web, shop: Workshop) -> None:  # CN-8
    one, two = await web.open(POLLS), await web.open(POLLS)
    async with one.calling("wait", {"reports": 1}, id=5, **REPORTS) as stream:
        await stream.message()
        await two.post(notice("notifications/cancelled", {"requestId": 5}))
        await two.settle()
        shop.events.go.set()
        assert (await stream.rest())[-1]["id"] == 5


# Questions to the client.


@pytest.mark.parametrize(("tool", "method", "capabilities", "answer", "text", "revision"), CASES)
async def test_a_question_comes_on_the_stream_of_its_call(
    web: Web, tool: str, method: str, capabilities: Json, answer: Json, text: str, revision: Revision
) -> None:  # D-10
    peer = await web.open(revision, capabilities)
    async with peer.standing(), peer.calling(tool) as stream:
        question = await stream.message()
        check(question, revision)
        assert question["method"] == method
        posted = await peer.post({"jsonrpc": "2.0", "id": question["id"], "result": answer})
        assert (posted.status, text_of((await stream.message())["result"])) == (202, text)


@pytest.mark.parametrize(("tool", "method", "capabilities", "answer", "text", "revision"), CASES)
async def test_a_call_that_waits_for_json_asks_on_the_standing_stream(
    web: Web, tool: str, method: str, capabilities: Json, answer: Json, text: str, revision: Revision
) -> None:  # D-10
    peer = await web.open(revision, capabilities)
    texts: list[str] = []

    async def call() -> None:
        reply = await peer.call(tool, fields={"accept": "application/json"})
        texts.append(text_of(reply.json["result"]))

    async with peer.standing() as standing, anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        question = await standing.message()
        assert question["method"] == method
        await peer.post({"jsonrpc": "2.0", "id": question["id"], "result": answer})
    assert texts == [text]


@pytest.mark.parametrize("revision", HANDSHAKE)
async def test_a_question_that_cannot_be_put_fails_at_once(web: Web, revision: Revision) -> None:  # D-10
    peer = await web.open(revision, {"sampling": {}})
    reply = await peer.call("sample", fields={"accept": "application/json"})
    assert reply.json["result"]["isError"] is True


async def test_an_answer_in_another_session_answers_nothing(web: Web) -> None:
    one, two = await web.open(POLLS, {"sampling": {}}), await web.open(POLLS)
    said = {"role": "assistant", "content": {"type": "text", "text": "hm"}, "model": "m"}
    async with one.calling("sample") as stream:
        question = await stream.message()
        await two.post({"jsonrpc": "2.0", "id": question["id"], "result": {**said, "model": "other"}})
        await two.settle()
        await one.post({"jsonrpc": "2.0", "id": question["id"], "result": said})
        assert text_of((await stream.message())["result"]) == "hm"


async def test_a_client_that_lost_the_question_finds_it_again(web: Web) -> None:  # H-38
    peer = await web.open(POLLS, {"sampling": {}})
    async with peer.calling("sample") as stream:
        primed = await stream.event()
        assert primed is not None
    async with peer.standing(primed.id) as resumed:
        question = await resumed.message()
        said = {"role": "assistant", "content": {"type": "text", "text": "hm"}, "model": "m"}
        await peer.post({"jsonrpc": "2.0", "id": question["id"], "result": said})
        assert text_of((await resumed.message())["result"]) == "hm"


# Coming back.


async def test_event_ids_are_unique_in_a_session(web: Web, old: Revision) -> None:  # H-32
    peer = await web.open(old)
    ids = [
        event.id
        for number in range(3)
        for event in (await peer.call("count", {"to": 2}, meta={"progressToken": 1}, id=number)).events
    ]
    assert None not in ids
    assert len(set(ids)) == len(ids)


async def test_a_client_that_comes_back_gets_the_rest(web: Web, old: Revision) -> None:  # H-33, H-38
    peer = await web.open(old)
    events = (await peer.call("count", {"to": 2}, meta={"progressToken": 1})).events
    for number, event in enumerate(events):
        async with peer.standing(event.id) as resumed:
            again = await resumed.rest()
        assert again == [json.loads(later.data) for later in events[number + 1 :]]


async def test_what_was_said_while_the_client_was_away_is_kept(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-10, H-38
    peer = await web.open(old)
    async with peer.calling("wait", {"reports": 1}, **REPORTS) as stream:
        while (event := await stream.event()) is not None and not event.data:
            pass
    assert event is not None
    await peer.settle()
    shop.events.go.set()
    with anyio.fail_after(PATIENCE):
        await shop.events.finished.wait()
    await peer.settle()
    async with peer.standing(event.id) as resumed:
        assert methods(await resumed.rest()) == ["notifications/progress", None]


async def test_a_client_that_comes_back_early_hears_the_rest_as_it_comes(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-38
    peer = await web.open(old)
    async with peer.calling("wait", {"reports": 1}, **REPORTS) as stream:
        event = await stream.event()
        assert event is not None
        async with peer.standing(event.id) as resumed:
            shop.events.go.set()
            assert (await resumed.rest())[-1]["id"] == 1


async def test_a_standing_stream_goes_on_where_it_was_left(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-38
    peer = await watch(web, old)
    async with peer.standing() as standing:
        await shop.server.changed(PAGE)
        while (event := await standing.event()) is not None and not event.data:
            pass
        assert event is not None
        await shop.server.add(shop.extra)
        await standing.message()
    async with peer.standing(event.id) as resumed:
        assert (await resumed.message())["method"] == "notifications/tools/list_changed"


async def test_coming_back_never_shows_another_stream(
    web: Web, shop: Workshop, old: Revision
) -> None:  # H-39
    peer = await watch(web, old)
    one = (await peer.call("count", {"to": 2}, meta={"progressToken": "one"}, id=1)).events
    await peer.call("count", {"to": 2}, meta={"progressToken": "two"}, id=2)
    await shop.server.changed(PAGE)
    await peer.settle()
    async with peer.standing(one[0].id) as resumed:
        said = await resumed.rest()
    assert {message["params"].get("progressToken", "one") for message in said[:-1]} == {"one"}
    assert (said[-1]["id"], UPDATED in methods(said)) == (1, False)


@pytest.mark.parametrize(
    "last_seen", ["99-0", "0-99", "1-99", "x", "", "-", "1-", "-1", "1--1", "9" * 50 + "-1", "²-1"]
)
async def test_an_event_nobody_sent_cannot_be_resumed(web: Web, last_seen: str) -> None:  # H-41
    peer = await web.open(POLLS)
    await peer.call("count", {"to": 1}, meta={"progressToken": 1})
    fields = {**peer.fields, "accept": "text/event-stream"}
    built = web.build("GET", fields, b"", None)
    built.headers = httpx.Headers([*built.headers.raw, (b"last-event-id", last_seen.encode())])
    assert (await web.exchange(built)).status == 400


async def test_another_session_cannot_resume_it(web: Web) -> None:  # H-39
    one, two = await web.open(POLLS), await web.open(POLLS)
    events = (await one.call("count", {"to": 1}, meta={"progressToken": 1})).events
    reply = await two.get({"accept": "text/event-stream", "last-event-id": events[-1].id})
    assert reply.status == 400


async def test_a_call_may_let_go_of_its_connection(web: Web, shop: Workshop) -> None:  # H-34, H-36
    peer = await web.open(POLLS)
    async with peer.calling("wait", {"release": True}) as stream:
        primed, last, end = await stream.event(), await stream.event(), await stream.event()
    assert primed is not None
    assert last is not None
    assert (primed.data, last.data, last.retry, end) == (b"", b"", 10, None)
    async with peer.standing(last.id) as resumed:
        shop.events.go.set()
        assert text_of((await resumed.rest())[-1]["result"]) == "waited"


async def test_an_answer_given_meanwhile_is_there_for_the_client(web: Web, shop: Workshop) -> None:  # H-34
    peer = await web.open(POLLS)
    async with peer.calling("wait", {"release": True}) as stream:
        primed = await stream.event()
        await stream.rest()
    assert primed is not None
    shop.events.go.set()
    with anyio.fail_after(PATIENCE):
        await shop.events.finished.wait()
    await peer.settle()
    async with peer.standing(primed.id) as resumed:
        assert text_of((await resumed.rest())[-1]["result"]) == "waited"


@pytest.mark.parametrize("revision", HANDSHAKE[:-1])
async def test_an_older_client_is_not_sent_away(web: Web, shop: Workshop, revision: Revision) -> None:  # H-11
    peer = await web.open(revision)
    async with peer.calling("wait", {"release": True, "reports": 1}, **REPORTS) as stream:
        await stream.message()
        shop.events.go.set()
        assert text_of((await stream.rest())[-1]["result"]) == "waited"


async def test_a_release_without_a_connection_does_not_send_the_next_one_away(
    web: Web, shop: Workshop
) -> None:
    peer = await web.open(POLLS)
    async with peer.calling("flood", {"events": 1, "size": 1, "wait": True, "release": True}) as stream:
        primed = await stream.event()
    assert primed is not None
    await peer.settle()
    shop.events.go.set()
    with anyio.fail_after(PATIENCE):
        await shop.events.started.wait()
    async with peer.standing(primed.id) as resumed:
        shop.events.again.set()
        assert text_of((await resumed.rest())[-1]["result"]) == "said"


# Limits.


async def test_nothing_is_lost_while_somebody_reads(web: Web, old: Revision) -> None:
    peer = await web.open(old)
    each = 3 * KEPT_EVENTS
    reply = await peer.call("flood", {"events": each, "size": 100})
    assert len(reply.messages) == 2 * each + 1


async def test_what_nobody_reads_is_bounded(web: Web, shop: Workshop) -> None:  # H-41
    peer = await web.open(POLLS)
    async with peer.calling("flood", {"events": 100, "size": 10_000, "wait": True}) as stream:
        _, word = await stream.event(), await stream.event()
    assert word is not None
    await anyio.sleep(0.2)  # the server looks now and then whether a client is still there
    shop.events.go.set()
    with anyio.fail_after(PATIENCE):
        await shop.events.finished.wait()
    await peer.settle()
    async with peer.standing(word.id) as resumed:
        messages = await resumed.rest()
    assert (messages[-1]["id"], len(resumed.raw) < 2 * KEPT) == (1, True)


async def test_what_was_read_long_ago_cannot_be_resumed(web: Web) -> None:  # H-41
    peer = await web.open(POLLS)
    reply = await peer.call("flood", {"events": KEPT_EVENTS, "size": 1})
    first = reply.events[1].id
    assert (await peer.get({"accept": "text/event-stream", "last-event-id": first})).status == 400


async def test_finished_streams_are_kept_only_so_long(web: Web) -> None:  # H-41
    from mcp_server_core.transports.http.session import MAX_FINISHED

    peer = await web.open(POLLS)
    first = (await peer.call("count", {"to": 1}, meta={"progressToken": 1}, id=0)).events[0].id
    for number in range(1, MAX_FINISHED + 1):
        await peer.call("count", {"to": 1}, meta={"progressToken": 1}, id=number)
    assert (await peer.get({"accept": "text/event-stream", "last-event-id": first})).status == 400


async def test_a_batch_may_cancel_its_own_request(web: Web) -> None:
    peer = await web.open("2025-03-26")
    call = request("tools/call", {"name": "wait", "arguments": {}}, 1)
    reply = await peer.post(
        [call, request("ping", id=2), notice("notifications/cancelled", {"requestId": 1})]
    )
    assert [answer["id"] for answer in reply.json] == [2]


async def test_an_answer_that_is_being_written_is_kept_for_a_client_that_has_left_already() -> None:  # H-32
    session = HttpSession("id", "", 0.0)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError

    async def send(event: dict[str, Any]) -> None:
        sent.append(event)

    stream = session.deliver(request("tools/call", id=1), takes_events=True)
    assert stream is not None
    carrier = Carrier(stream, Answer(send), receive, Pings(1), json=False, ids=True)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(carrier.carry, 0, primed=True))
        while not sent:
            await anyio.lowlevel.checkpoint()
        await session.send({"jsonrpc": "2.0", "id": 1, "result": {}})
        # Nobody had a turn since: the carrier has not written it, and the client asks on another connection.
        assert session.resume(f"{stream.number}-0") is not None
