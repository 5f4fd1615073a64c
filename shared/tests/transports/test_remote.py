"""The client's way to a server by URL: what it costs before it is used, and what a channel does at its end."""

import subprocess
import sys

import anyio
import pytest
from mcp_server_core import ConnectionLost, http
from mcp_server_core.protocol.messages import notification, request
from mcp_server_core.protocol.unanswered import Unanswered

from .web import PATIENCE, Exchange, classic, echo, serve

pytestmark = pytest.mark.anyio


def test_the_http_library_is_loaded_only_when_a_connection_is_opened() -> None:
    code = (
        "import sys; from mcp_server_core import http; http('http://127.0.0.1:1/mcp');"
        "print(sorted({'httpx', 'httpcore', 'ssl'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert "httpx" not in shown.stdout


async def test_a_request_that_fails_is_reported_in_the_place_of_its_response() -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.reply(503)

    async with serve(classic(ping=busy)) as site, http(site.url)() as channel:
        await channel.send(request(7, "ping"))
        news = await channel.receive()
    assert isinstance(news, Unanswered)
    assert news.id == 7
    assert str(news.error) == "The server answered HTTP 503"


async def test_messages_given_together_are_sent_one_by_one() -> None:
    async with serve(classic(ping=echo)) as site, http(site.url)() as channel:
        await channel.send([request(1, "ping"), request(2, "ping")])
        answers = [await channel.receive(), await channel.receive()]
    assert {answer["id"] for answer in answers} == {1, 2}
    assert len(site.heard) == 2  # H-3


async def test_whoever_waits_is_told_when_the_channel_is_closed() -> None:
    async with serve(classic()) as site, http(site.url)() as channel, anyio.create_task_group() as tasks:

        async def wait() -> None:
            with pytest.raises(ConnectionLost):
                await channel.receive()

        tasks.start_soon(wait)
        await anyio.lowlevel.checkpoint()
        await channel.close()
        with pytest.raises(ConnectionLost):
            await channel.send(request(1, "ping"))


async def test_a_notification_that_the_server_does_not_take_is_given_up_after_a_while() -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.until_gone()

    handler = classic(ping=echo, notifications_x=silent)
    async with serve(handler) as site, http(site.url, timeout=0.1)() as channel:
        await channel.send(request(1, "ping"))
        await channel.receive()
        with pytest.raises(ConnectionLost, match=r"0\.1 s"):
            await channel.send(notification("notifications/x"))


async def test_closing_does_not_wait_for_a_server_that_does_not_answer() -> None:
    async def silent(exchange: Exchange) -> None:
        await exchange.until_gone()

    init = request(1, "initialize", {"protocolVersion": "2025-11-25"})
    async with serve(classic(DELETE=silent)) as site:
        with anyio.fail_after(PATIENCE):
            async with http(site.url)() as channel:
                await channel.send(init)
                await channel.receive()
    assert site.methods() == ["initialize", "DELETE"]
