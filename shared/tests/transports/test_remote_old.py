"""The client's way down to the old HTTP+SSE transport."""

from typing import Any

import anyio
import pytest
from mcp_server_core import Client, ConnectionLost, McpError, http
from mcp_server_core.protocol.messages import Json

from .web import Exchange, Site, serve

pytestmark = pytest.mark.anyio


class OldServer:
    """A server of 2024-11-05: a GET opens the stream, POSTs go to the endpoint it names."""

    def __init__(self, endpoint: str = "/messages?session=7", refusal: int = 405) -> None:
        self.endpoint = endpoint
        self.refusal = refusal
        self.stream: Exchange | None = None
        self.ended = anyio.Event()
        self.left = anyio.Event()
        self.called = anyio.Event()

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.heard.verb == "GET":
            await exchange.stream()
            await exchange.event(self.endpoint, event="endpoint")
            self.stream = exchange
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._watch, exchange, tasks.cancel_scope)
                await self.ended.wait()
                tasks.cancel_scope.cancel()
        elif exchange.heard.path == "/mcp":
            await exchange.reply(self.refusal, b"no", allow="GET")
        elif exchange.heard.method == "fatal":
            self.ended.set()
            await self.left.wait()
        else:
            await exchange.reply(202)
            await self.respond(exchange.heard.body)

    async def _watch(self, exchange: Exchange, scope: anyio.CancelScope) -> None:
        await exchange.until_gone()
        scope.cancel()

    async def respond(self, message: Json) -> None:
        assert self.stream is not None
        if message.get("method") == "tools/call":
            self.called.set()
        results: dict[str, Any] = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}},
            "ping": {},
        }
        if message.get("method") in results:
            response = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
            await self.stream.event(response, event="message")


def endpoints(site: Site) -> set[str]:
    """Where POSTs went after the endpoint was named."""
    named = next(index for index, heard in enumerate(site.heard) if heard.verb == "GET")
    return {heard.path for heard in site.heard[named + 1 :]}


@pytest.mark.parametrize("refusal", [400, 404, 405, 410])
async def test_a_server_of_the_old_transport_is_found_behind_its_url(refusal: int) -> None:
    async with serve(OldServer(refusal=refusal)) as site, Client(http(site.url)) as client:
        assert client.revision == "2024-11-05"
        await client.ping()
    assert site.methods()[:4] == ["server/discover", "initialize", "GET", "initialize"]
    assert endpoints(site) == {"/messages?session=7"}


async def test_an_absolute_endpoint_on_the_same_origin_is_used() -> None:
    server = OldServer()
    async with serve(server) as site:
        server.endpoint = site.url.replace("/mcp", "/elsewhere")
        async with Client(http(site.url)) as client:
            await client.ping()
    assert endpoints(site) == {"/elsewhere"}


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1/messages", "//localhost/x", "https://example.com/"])
async def test_an_endpoint_on_another_origin_is_refused(endpoint: str) -> None:
    async with serve(OldServer(endpoint)) as site:
        with pytest.raises(ConnectionLost, match="another origin"):
            async with Client(http(site.url)):
                pass


async def test_a_stream_that_does_not_begin_with_an_endpoint_is_refused() -> None:
    async def other(exchange: Exchange) -> None:
        if exchange.heard.verb == "POST":
            await exchange.reply(405)
        else:
            await exchange.stream()
            await exchange.event("/messages")

    async with serve(other) as site:
        with pytest.raises(ConnectionLost, match="endpoint"):
            async with Client(http(site.url)):
                pass


@pytest.mark.parametrize("refusal", [403, 408, 429, 500, 503])
async def test_a_refusal_that_says_nothing_of_transports_is_final(refusal: int) -> None:
    async with serve(OldServer(refusal=refusal)) as site:
        with pytest.raises(McpError) as caught:
            async with Client(http(site.url)):
                pass
    assert caught.value.code == refusal
    assert site.methods() == ["server/discover", "initialize"]


async def test_where_no_transport_is_found_the_first_refusal_is_the_error() -> None:
    async def nothing(exchange: Exchange) -> None:
        await exchange.reply(404, b"not here")

    async with serve(nothing) as site:
        with pytest.raises(McpError) as caught:
            async with Client(http(site.url)):
                pass
    assert caught.value.code == 404
    assert site.methods() == ["server/discover", "initialize", "GET"]


async def test_the_end_of_the_stream_is_the_end_of_the_connection() -> None:
    server = OldServer()
    async with serve(server) as site, Client(http(site.url)) as client:
        async with client.watch() as changes:
            server.ended.set()
            assert [change async for change in changes] == []
        with pytest.raises(ConnectionLost):
            await client.ping()


async def test_a_request_that_breaks_after_the_stream_has_ended_spoils_nothing_else() -> None:
    server = OldServer()
    async with serve(server) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost):
            await client.request("fatal")
        server.left.set()
        with pytest.raises(ConnectionLost):
            await client.ping()


async def test_cancelling_a_request_tells_the_server() -> None:
    server = OldServer()
    async with serve(server) as site, Client(http(site.url)) as client, anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, "never")
        await server.called.wait()
        tasks.cancel_scope.cancel()
    assert site.methods()[-1] == "notifications/cancelled"
