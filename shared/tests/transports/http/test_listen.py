"""Listen streams over HTTP: what they say, in which order, and how they end (5.3)."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from mcp_server_core.protocol.messages import Json, RequestId

from ...protocol.oracle import check
from .serving import META, NEWEST, PATIENCE, Stream, Web, serving
from .workshop import PAGE, Workshop

pytestmark = pytest.mark.anyio
LISTEN = "subscriptions/listen"
SUBSCRIPTION = META + "subscriptionId"
PAGES = {"notifications": {"resourceSubscriptions": [PAGE]}}
TOOLS = {"notifications": {"toolsListChanged": True}}


@pytest.fixture
def shop() -> Workshop:
    """What the server under test is made of."""
    return Workshop()


@pytest.fixture
async def web(shop: Workshop) -> AsyncGenerator[Web]:
    """A client of it."""
    async with serving(shop.server) as web:
        yield web


async def heard(stream: Stream) -> Json:
    """The next message of a listen stream, checked."""
    message = await stream.message()
    assert message is not None, "the stream has ended"
    check(message, NEWEST, None if "method" in message else LISTEN)
    return message


async def accepted(stream: Stream) -> Json:
    """The filter in the acknowledgement."""
    message = await heard(stream)
    assert message["method"] == "notifications/subscriptions/acknowledged"
    return message["params"]["notifications"]


async def wait_until_nobody_watches(shop: Workshop) -> None:
    """Wait for the server to forget every subscription."""
    with anyio.fail_after(PATIENCE):
        async for uris in shop.server.watching():
            if not uris:
                return


async def test_the_acknowledgement_comes_first(web: Web, shop: Workshop) -> None:  # SU-1
    async with web.asking(LISTEN, PAGES) as stream:
        await shop.server.changed(PAGE)
        assert (await heard(stream))["method"] == "notifications/subscriptions/acknowledged"
        await shop.server.changed(PAGE)
        assert (await heard(stream))["method"] == "notifications/resources/updated"


@pytest.mark.parametrize("id", [7, "7", 0, "a b"])
async def test_every_message_carries_the_id_of_the_subscription(
    web: Web, shop: Workshop, id: RequestId
) -> None:  # SU-2
    async with web.asking(LISTEN, PAGES, id=id) as stream:
        first = await heard(stream)
        await shop.server.changed(PAGE)
        second = await heard(stream)
        await shop.server.stop()
        last = await heard(stream)
    ids = [message["params"]["_meta"][SUBSCRIPTION] for message in (first, second)]
    ids.append(last["result"]["_meta"][SUBSCRIPTION])
    assert [(type(found), found) for found in ids] == [(type(id), id)] * 3


async def test_what_was_not_asked_for_is_not_sent(web: Web, shop: Workshop) -> None:  # SU-3
    wanted = {"notifications": {"toolsListChanged": False, "resourceSubscriptions": [PAGE]}}
    async with web.asking(LISTEN, wanted) as stream:
        await accepted(stream)
        await shop.server.add(shop.extra)
        await shop.server.resources_changed()
        await shop.server.changed("page:///two")
        await shop.server.changed(PAGE)
        assert (await heard(stream))["params"]["uri"] == PAGE


async def test_a_changed_list_is_told(web: Web, shop: Workshop) -> None:
    async with web.asking(LISTEN, TOOLS) as stream:
        assert await accepted(stream) == {"toolsListChanged": True}
        await shop.server.add(shop.extra)
        assert (await heard(stream))["method"] == "notifications/tools/list_changed"


async def test_progress_and_logs_of_calls_stay_on_their_own_stream(web: Web, shop: Workshop) -> None:  # SU-4
    async with web.asking(LISTEN, PAGES, logLevel="debug", progressToken=1) as stream:
        await accepted(stream)
        await web.call("count", {"to": 2}, progressToken=1, logLevel="debug")
        await shop.server.changed(PAGE)
        assert (await heard(stream))["method"] == "notifications/resources/updated"


async def test_each_matching_subscription_is_told(web: Web, shop: Workshop) -> None:  # SU-5
    async with web.asking(LISTEN, PAGES, id=1) as one, web.asking(LISTEN, PAGES, id=1) as two:
        await accepted(one)
        await accepted(two)
        await shop.server.changed(PAGE)
        assert [(await heard(stream))["params"]["uri"] for stream in (one, two)] == [PAGE, PAGE]


async def test_a_server_that_stops_ends_the_stream_with_a_result(web: Web, shop: Workshop) -> None:  # SU-6
    async with web.asking(LISTEN, PAGES, id=9) as stream:
        await accepted(stream)
        await shop.server.stop()
        last = await heard(stream)
        assert (last["id"], last["result"]["resultType"]) == (9, "complete")


async def test_nothing_follows_the_result(web: Web, shop: Workshop) -> None:  # SU-7: no `cancelled` over HTTP
    async with web.asking(LISTEN, PAGES) as stream:
        await accepted(stream)
        await shop.server.stop()
        await heard(stream)
        assert await stream.rest() == []


async def test_what_waits_is_sent_before_the_result(web: Web, shop: Workshop) -> None:  # SU-6
    async with web.asking(LISTEN, PAGES) as stream:
        await accepted(stream)
        await shop.server.changed(PAGE)
        await shop.server.stop()
        assert ["method" in message for message in await stream.rest()] == [True, False]


async def test_hanging_up_ends_the_subscription(web: Web, shop: Workshop) -> None:  # SU-9
    async with web.asking(LISTEN, PAGES) as stream:
        await accepted(stream)
        assert shop.server.subscriptions.uris == {PAGE}
    await wait_until_nobody_watches(shop)


async def test_an_idle_stream_is_kept_alive_by_comments(shop: Workshop) -> None:  # N-8, SU-9
    async with serving(shop.server, ping_seconds=0.02) as web, web.asking(LISTEN, PAGES) as stream:
        await accepted(stream)
        while b": keep-alive\n\n: keep-alive\n\n" not in stream.raw:
            assert await stream.more()
        await shop.server.changed(PAGE)
        assert (await heard(stream))["params"]["uri"] == PAGE


@pytest.mark.parametrize(
    ("wanted", "taken"),
    [
        ({}, {}),
        ({"toolsListChanged": False}, {}),
        ({"toolsListChanged": "yes"}, {}),
        ({"taskIds": ["1"], "madeUp": True}, {}),
        ({"resourceSubscriptions": ["nothing:///"]}, {"resourceSubscriptions": []}),
        ({"resourceSubscriptions": [PAGE, PAGE, "nothing:///"]}, {"resourceSubscriptions": [PAGE]}),
    ],
)
async def test_what_cannot_be_subscribed_is_left_out(
    web: Web, wanted: Json, taken: Json
) -> None:  # SU-10, SU-11
    async with web.asking(LISTEN, {"notifications": wanted}) as stream:
        assert (stream.status, await accepted(stream)) == (200, taken)


@pytest.mark.parametrize(
    "wanted", [None, 5, [], "x", {"resourceSubscriptions": 5}, {"resourceSubscriptions": [5]}]
)
async def test_a_filter_of_another_shape_is_refused(web: Web, wanted: Any) -> None:
    reply = await web.ask(LISTEN, {"notifications": wanted})
    assert (reply.status, reply.code) == (200, -32602)


async def test_a_client_that_takes_no_streams_cannot_listen(web: Web) -> None:  # D-2
    assert (await web.ask(LISTEN, PAGES, fields={"accept": "application/json"})).status == 406


async def test_a_listen_stream_has_no_event_ids(web: Web, shop: Workshop) -> None:  # N-12
    async with web.asking(LISTEN, PAGES, fields={"mcp-session-id": "x", "last-event-id": "1-1"}) as stream:
        event = await stream.event()
        assert event is not None
        assert (event.id, "mcp-session-id" in stream.fields) == (None, False)


async def test_a_stream_asks_proxies_not_to_hold_it_back(web: Web) -> None:  # N-7
    async with web.asking(LISTEN, PAGES) as stream:
        assert stream.fields["x-accel-buffering"] == "no"


async def test_listen_streams_are_counted(shop: Workshop) -> None:
    async with serving(shop.server, max_listeners=1) as web:
        async with web.asking(LISTEN, PAGES) as stream:
            await accepted(stream)
            assert (await web.ask(LISTEN, PAGES)).status == 503
        await wait_until_nobody_watches(shop)
        async with web.asking(LISTEN, PAGES) as stream:
            assert stream.status == 200


async def test_listen_streams_take_no_room_from_calls(shop: Workshop) -> None:
    async with serving(shop.server, max_calls=1, max_waiting=0) as web, web.asking(LISTEN, PAGES) as stream:
        await accepted(stream)
        assert (await web.call("echo", {"text": "x"})).status == 200
