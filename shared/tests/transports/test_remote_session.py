"""The client's HTTP channel in the handshake era: sessions, standing streams, and taking a stream up again."""

import anyio
import pytest
from mcp_server_core import Answers, Client, ConnectionLost, McpError, http
from mcp_server_core.protocol.messages import Json

from .web import Exchange, Handler, classic, echo, serve

pytestmark = pytest.mark.anyio
OLD = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]


@pytest.mark.parametrize("status", [400, 404, 405, 500, 501])
async def test_a_server_that_knows_no_discovery_gets_a_handshake(status: int) -> None:
    async def puzzled(exchange: Exchange) -> None:
        await exchange.reply(status, b"what?")

    async with serve(classic(server_discover=puzzled)) as site, Client(http(site.url)) as client:
        assert client.revision == "2025-11-25"
    assert site.methods()[:3] == ["server/discover", "initialize", "notifications/initialized"]


@pytest.mark.parametrize("revision", OLD)
async def test_the_session_is_named_in_every_request_after_the_handshake(revision: str) -> None:
    async with serve(classic(revision, ping=echo)) as site, Client(http(site.url)) as client:
        await client.ping()
    after = site.heard[2:]
    assert [heard.method for heard in after] == ["notifications/initialized", "GET", "ping", "DELETE"]
    assert {heard.headers.get("mcp-session-id") for heard in after} == {"s-1"}  # H-20
    assert "mcp-session-id" not in site.of("initialize")[0].headers


@pytest.mark.parametrize("revision", OLD)
async def test_the_agreed_revision_is_named_to_those_who_know_the_header(revision: str) -> None:
    async with serve(classic(revision, ping=echo)) as site, Client(http(site.url)) as client:
        await client.ping()
    named = {heard.headers.get("mcp-protocol-version") for heard in site.heard[2:]}
    assert named == {revision if revision >= "2025-06-18" else None}  # H-28
    assert "mcp-protocol-version" not in site.of("initialize")[0].headers


async def test_a_session_without_an_id_is_not_deleted() -> None:
    async with serve(classic(session=None, ping=echo)) as site, Client(http(site.url)) as client:
        await client.ping()
    assert site.of("DELETE") == []


async def test_a_session_id_that_could_smuggle_something_is_refused() -> None:
    async with serve(classic(session="a\tb")) as site:
        with pytest.raises(McpError):
            async with Client(http(site.url)):
                pass


async def test_the_standing_stream_brings_what_belongs_to_no_request() -> None:
    async def standing(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event(
            {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 7}}
        )
        await exchange.until_gone()

    logged = anyio.Event()

    async def on_log(level: str, data: object) -> None:
        assert (level, data) == ("info", 7)
        logged.set()

    async with serve(classic(GET=standing)) as site, Client(http(site.url), on_log=on_log):
        await logged.wait()


async def test_a_question_on_the_stream_of_a_call_is_answered_by_a_post_of_its_own() -> None:
    answered = anyio.Event()

    async def asking(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await answered.wait()
        await exchange.event(exchange.response({"content": []}))

    async def take(exchange: Exchange) -> None:
        assert exchange.heard.body == {
            "jsonrpc": "2.0",
            "id": "q",
            "result": {"roots": [{"uri": "file:///a"}]},
        }
        answered.set()
        await exchange.reply(202)

    server = classic(tools_call=asking, POST=take)
    async with serve(server) as site, Client(http(site.url), answers=Answers(roots=["file:///a"])) as client:
        assert await client.call_tool("asking") == {"content": []}


async def test_cancelling_a_request_tells_the_server() -> None:
    arrived, gone = anyio.Event(), anyio.Event()

    async def endless(exchange: Exchange) -> None:
        await exchange.stream()
        arrived.set()
        await exchange.until_gone()
        gone.set()

    async with serve(classic(tools_call=endless)) as site, Client(http(site.url)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "endless")
            await arrived.wait()
            tasks.cancel_scope.cancel()
        await gone.wait()
    (cancelled,) = site.of("notifications/cancelled")  # H-10
    assert cancelled.body["params"]["requestId"] == site.of("tools/call")[0].body["id"]


# Taking a stream up again.


async def test_a_stream_that_ends_early_is_taken_up_after_the_time_the_server_asked_for() -> None:
    closed = 0.0
    waiting: list[Json] = []

    async def early(exchange: Exchange) -> None:
        nonlocal closed
        await exchange.stream()
        await exchange.event(id="e-1", retry=150)
        waiting.append(exchange.response({"content": []}))
        closed = anyio.current_time()

    async def resumed(exchange: Exchange) -> None:
        if "last-event-id" not in exchange.heard.headers:
            await exchange.reply(405)
            return
        await exchange.stream()
        await exchange.event(waiting.pop(), id="e-2")

    async with serve(classic(tools_call=early, GET=resumed)) as site, Client(http(site.url)) as client:
        assert await client.call_tool("early") == {"content": []}
    resumption = site.of("GET")[-1]
    assert resumption.headers["last-event-id"] == "e-1"  # H-33
    assert resumption.at - closed >= 0.15  # H-37
    assert len(site.of("tools/call")) == 1


async def test_a_connection_that_breaks_is_taken_up_again_even_if_the_server_is_out_of_order_for_a_while() -> (
    None
):
    waiting: list[Json] = []

    async def breaking(exchange: Exchange) -> None:
        await exchange.stream(content_length="1000")
        await exchange.event(id="e-1", retry=1)
        waiting.append(exchange.response({"content": []}))

    async def resumed(exchange: Exchange) -> None:
        if "last-event-id" not in exchange.heard.headers:
            await exchange.reply(405)
        elif len(site.of("GET")) == 2:
            await exchange.reply(503)
        else:
            await exchange.stream()
            await exchange.event(waiting.pop())

    async with serve(classic(tools_call=breaking, GET=resumed)) as site, Client(http(site.url)) as client:
        assert await client.call_tool("breaking") == {"content": []}
    assert [heard.headers.get("last-event-id") for heard in site.of("GET")] == [None, "e-1", "e-1"]


async def test_a_stream_is_polled_as_often_as_the_server_likes() -> None:
    polls = 0
    waiting: list[Json] = []

    async def early(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event(id="0", retry=1)
        waiting.append(exchange.response({"content": []}))

    async def resumed(exchange: Exchange) -> None:
        nonlocal polls
        if "last-event-id" not in exchange.heard.headers:
            await exchange.reply(405)
            return
        assert exchange.heard.headers["last-event-id"] == str(polls)
        polls += 1
        await exchange.stream()
        await exchange.event(waiting.pop() if polls == 8 else None, id=str(polls))

    async with serve(classic(tools_call=early, GET=resumed)) as site, Client(http(site.url)) as client:
        assert await client.call_tool("early") == {"content": []}
    assert polls == 8


async def test_a_stream_without_ids_that_breaks_fails_its_request_alone() -> None:
    async def breaking(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event()

    async with serve(classic(tools_call=breaking, ping=echo)) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("breaking")
        await client.ping()


@pytest.mark.parametrize("status", [400, 405])
async def test_a_stream_that_cannot_be_taken_up_fails_its_request(status: int) -> None:
    async def early(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.event(id="1", retry=1)

    async def no(exchange: Exchange) -> None:
        await exchange.reply(status)

    async with serve(classic(tools_call=early, GET=no)) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost):
            await client.call_tool("early")


async def test_the_standing_stream_is_taken_up_where_it_broke() -> None:
    again = anyio.Event()

    async def standing(exchange: Exchange) -> None:
        await exchange.stream()
        if "last-event-id" in exchange.heard.headers:
            again.set()
            await exchange.until_gone()
        else:
            await exchange.event(id="g-1", retry=20)

    async with serve(classic(GET=standing)) as site, Client(http(site.url)):
        await again.wait()
    first, second = site.of("GET")
    assert second.headers["last-event-id"] == "g-1"
    assert second.at - first.at >= 0.02


# Sessions that the server forgets.


class Forgetting:
    """A server that knows only its newest session."""

    def __init__(self, standing: Handler | None = None) -> None:
        self.sessions = 0
        self._standing = standing

    @property
    def known(self) -> str:
        return f"s-{self.sessions}"

    async def __call__(self, exchange: Exchange) -> None:
        heard = exchange.heard
        if heard.method == "initialize":
            self.sessions += 1
            result = {
                "protocolVersion": "2025-11-25",
                "capabilities": {"resources": {"subscribe": True}},
                "serverInfo": {},
            }
            await exchange.result(result, mcp_session_id=self.known)
        elif heard.method == "server/discover":
            await exchange.reply(400)
        elif heard.headers.get("mcp-session-id") != self.known:
            await exchange.reply(404)
        elif heard.verb == "GET" and self._standing is not None:
            await self._standing(exchange)
        elif heard.verb != "POST":
            await exchange.reply(405)
        elif "id" not in heard.body:
            await exchange.reply(202)
        else:
            await exchange.result({})

    def forget(self) -> None:
        """From now on the current session is unknown."""
        self.sessions += 100


async def test_a_forgotten_session_is_opened_anew_behind_the_callers_back() -> None:
    server = Forgetting()
    async with serve(server) as site, Client(http(site.url)) as client:
        server.forget()
        await client.ping()
    assert site.methods()[4:] == ["ping", "initialize", "notifications/initialized", "GET", "ping", "DELETE"]
    assert "mcp-session-id" not in site.of("initialize")[1].headers  # H-25
    assert site.of("ping")[1].headers["mcp-session-id"] == server.known


async def test_the_standing_stream_of_a_forgotten_session_is_closed() -> None:
    closed: list[str] = []
    first_closed = anyio.Event()

    async def standing(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.until_gone()
        closed.append(exchange.heard.headers["mcp-session-id"])
        first_closed.set()

    server = Forgetting(standing)
    async with serve(server) as site, Client(http(site.url)) as client:
        server.forget()
        await client.ping()
        await first_closed.wait()
        assert closed == ["s-1"]


async def test_everybody_who_notices_shares_one_new_session() -> None:
    server = Forgetting()
    async with serve(server) as site, Client(http(site.url)) as client:
        server.forget()
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(client.ping)
    assert len(site.of("initialize")) == 2


async def test_subscriptions_are_renewed_in_a_new_session() -> None:
    server = Forgetting()
    async with serve(server) as site, Client(http(site.url)) as client, client.watch("file:///a"):
        server.forget()
        await client.ping()
        renewed = site.of("resources/subscribe")[-1]
        assert renewed.headers["mcp-session-id"] == server.known
        assert renewed.body["params"] == {"uri": "file:///a"}


async def test_a_session_forgotten_twice_in_a_row_is_a_lost_connection() -> None:
    async def amnesic(exchange: Exchange) -> None:
        await exchange.reply(404)

    async with serve(classic(ping=amnesic)) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost):
            await client.ping()
    assert len(site.of("initialize")) == 2


async def test_a_standing_stream_whose_session_is_gone_brings_a_new_session() -> None:
    sessions = 0
    renewed = anyio.Event()

    async def standing(exchange: Exchange) -> None:
        nonlocal sessions
        sessions += 1
        if sessions == 1:
            await exchange.reply(404)
        else:
            renewed.set()
            await exchange.reply(405)

    async with serve(classic(GET=standing)) as site, Client(http(site.url)):
        await renewed.wait()
    assert len(site.of("initialize")) == 2


async def test_a_refusal_without_an_id_belongs_to_the_request_it_answers() -> None:
    async def refuse(exchange: Exchange) -> None:
        error = {"code": -32700, "message": "what?"}
        await exchange.json({"jsonrpc": "2.0", "id": None, "error": error}, 400)

    async with serve(classic(tools_call=refuse)) as site, Client(http(site.url)) as client:
        with pytest.raises(McpError, match="what"):
            await client.call_tool("x")


async def test_a_refused_request_in_a_session_carries_the_servers_words() -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.refuse(-32602, status=400)

    async with serve(classic(tools_call=refuse)) as site, Client(http(site.url)) as client:
        with pytest.raises(McpError) as caught:
            await client.call_tool("x")
    assert caught.value.code == -32602
