"""The client's HTTP channel in the stateless era: lone POSTs, mirrored headers, streams that mean one request."""

import gzip
import logging
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, ConnectionLost, McpError, http
from mcp_server_core.protocol.messages import Json

from .web import NEWEST, PATIENCE, Exchange, echo, modern, serve

pytestmark = pytest.mark.anyio


def tool(name: str, **properties: Any) -> Json:
    """A tool with these arguments."""
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


REGION: Json = {"type": "string", "x-mcp-header": "Region"}


def listing(*tools: Json) -> Any:
    """A handler of tools/list."""

    async def handle(exchange: Exchange) -> None:
        await exchange.result({"resultType": "complete", "tools": list(tools)})

    return handle


async def done(exchange: Exchange) -> None:
    await exchange.result({"resultType": "complete", "content": []})


async def test_a_stateless_server_is_recognised_and_nothing_but_posts_are_sent() -> None:
    async with serve(modern(tools_list=listing())) as site, Client(http(site.url)) as client:
        assert client.revision == NEWEST
        assert await client.list_tools() == []
    assert [(heard.verb, heard.method) for heard in site.heard] == [
        ("POST", "server/discover"),
        ("POST", "tools/list"),
    ]


async def test_every_request_repeats_its_revision_and_method_and_takes_both_kinds_of_reply() -> None:
    async with serve(modern(tools_list=listing())) as site, Client(http(site.url)) as client:
        await client.list_tools()
    for heard in site.heard:  # N-2, N-20, N-21
        assert heard.headers["mcp-protocol-version"] == NEWEST
        assert heard.headers["mcp-method"] == heard.method
        assert heard.headers["accept"] == "application/json, text/event-stream"
        assert heard.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("method", "params", "value"),
    [
        ("tools/call", {"name": "add"}, "add"),
        ("prompts/get", {"name": "日本語"}, "=?base64?5pel5pys6Kqe?="),
        ("resources/read", {"uri": "file:///a b"}, "file:///a b"),
        ("completion/complete", {"name": "x"}, None),
    ],
)
async def test_the_name_of_what_is_asked_for_is_repeated(
    method: str, params: Json, value: str | None
) -> None:
    async with serve(modern(**{method.replace("/", "_"): echo})) as site, Client(http(site.url)) as client:
        await client.request(method, params)
    assert site.of(method)[0].headers.get("mcp-name") == value  # N-22, N-39


async def test_annotated_arguments_are_repeated_at_their_exact_path() -> None:
    schema = tool(
        "deploy",
        region=REGION,
        plain={"type": "string"},
        gone={"type": "string", "x-mcp-header": "Gone"},
        inner={"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        dry={"type": "boolean", "x-mcp-header": "Dry"},
    )
    async with (
        serve(modern(tools_list=listing(schema), tools_call=done)) as site,
        Client(http(site.url)) as client,
    ):
        await client.list_tools()
        arguments = {"region": " west", "plain": "p", "gone": None, "inner": {"n": 42}, "dry": False}
        await client.call_tool("deploy", arguments)
    sent = {
        name: value
        for name, value in site.of("tools/call")[0].headers.items()
        if name.startswith("mcp-param-")
    }
    assert sent == {
        "mcp-param-region": "=?base64?IHdlc3Q=?=",
        "mcp-param-n": "42",
        "mcp-param-dry": "false",
    }  # N-35


async def test_a_tool_with_a_broken_annotation_is_left_out_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = tool("broken", x={"type": "number", "x-mcp-header": "X"})
    async with (
        serve(modern(tools_list=listing(tool("good"), broken))) as site,
        Client(http(site.url)) as client,
    ):
        with caplog.at_level(logging.WARNING):
            assert await client.list_tools() == [tool("good")]  # N-34
    assert "'broken'" in caplog.text
    assert "number" in caplog.text


async def test_a_header_mismatch_is_mended_by_listing_the_tools_again() -> None:
    async def strict(exchange: Exchange) -> None:
        if "mcp-param-region" in exchange.heard.headers:
            await done(exchange)
        else:
            await exchange.refuse(-32020)

    async with (
        serve(modern(tools_list=listing(tool("deploy", region=REGION)), tools_call=strict)) as site,
        Client(http(site.url)) as client,
    ):
        await client.call_tool("deploy", {"region": "west"})  # N-41
    assert site.methods()[1:] == ["tools/call", "tools/list", "tools/call"]
    first, second = site.of("tools/call")
    assert first.body["id"] != second.body["id"]


async def test_a_header_mismatch_is_mended_only_once() -> None:
    async def never(exchange: Exchange) -> None:
        await exchange.refuse(-32020)

    async with (
        serve(modern(tools_list=listing(), tools_call=never)) as site,
        Client(http(site.url)) as client,
    ):
        with pytest.raises(McpError) as caught:
            await client.call_tool("deploy")
    assert caught.value.code == -32020
    assert len(site.of("tools/call")) == 2


async def test_what_comes_before_the_response_on_its_stream_is_heard_first() -> None:
    async def slow(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.raw(b": keep-alive\n\n")
        token = exchange.heard.body["params"]["_meta"]["progressToken"]
        params = {"progressToken": token, "progress": 1}
        await exchange.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        await exchange.event(exchange.response({"resultType": "complete", "content": []}))

    reports: list[float] = []

    async def report(done: float, total: float | None, message: str | None) -> None:
        reports.append(done)

    async with serve(modern(tools_call=slow)) as site, Client(http(site.url)) as client:
        await client.call_tool("slow", progress=report)
    assert reports == [1]


async def test_cancelling_a_request_closes_its_connection_and_posts_nothing() -> None:
    arrived, gone = anyio.Event(), anyio.Event()

    async def endless(exchange: Exchange) -> None:
        await exchange.stream()
        arrived.set()
        await exchange.until_gone()
        gone.set()

    async with serve(modern(tools_call=endless)) as site, Client(http(site.url)) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "endless")
            await arrived.wait()
            tasks.cancel_scope.cancel()
        await gone.wait()  # N-9
    assert site.methods() == ["server/discover", "tools/call"]


async def test_a_broken_connection_fails_its_own_request_alone() -> None:
    async def breaking(exchange: Exchange) -> None:
        await exchange.stream()
        await exchange.raw(b'data: {"jsonrpc"')

    async with (
        serve(modern(tools_call=breaking, tools_list=listing())) as site,
        Client(http(site.url)) as client,
    ):
        with pytest.raises(ConnectionLost):
            await client.call_tool("breaking")
        assert await client.list_tools() == []


async def test_a_listen_stream_that_breaks_ends_its_watch() -> None:
    async def listen(exchange: Exchange) -> None:
        await exchange.stream()
        meta = {"io.modelcontextprotocol/subscriptionId": exchange.heard.body["id"]}
        for method in ("notifications/subscriptions/acknowledged", "notifications/tools/list_changed"):
            await exchange.event(
                {"jsonrpc": "2.0", "method": method, "params": {"_meta": meta, "notifications": {}}}
            )

    async with (
        serve(modern(subscriptions_listen=listen)) as site,
        Client(http(site.url)) as client,
        client.watch(lists=["tools"]) as changes,
    ):
        assert [change.kind async for change in changes] == ["tools"]


async def test_leaving_a_watch_closes_its_stream() -> None:
    gone = anyio.Event()

    async def listen(exchange: Exchange) -> None:
        await exchange.stream()
        meta = {"io.modelcontextprotocol/subscriptionId": exchange.heard.body["id"]}
        params = {"_meta": meta, "notifications": {}}
        await exchange.event(
            {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}
        )
        await exchange.until_gone()
        gone.set()

    async with serve(modern(subscriptions_listen=listen)) as site, Client(http(site.url)) as client:
        async with client.watch(lists=["tools"]):
            pass
        await gone.wait()


async def test_requests_run_side_by_side() -> None:
    arrived = 0
    both = anyio.Event()

    async def meet(exchange: Exchange) -> None:
        nonlocal arrived
        arrived += 1
        if arrived == 2:
            both.set()
        await both.wait()
        await done(exchange)

    async with (
        serve(modern(tools_call=meet)) as site,
        Client(http(site.url)) as client,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(client.call_tool, "a")
        tasks.start_soon(client.call_tool, "b")


async def test_a_refused_version_that_the_server_names_is_offered_again() -> None:
    async def moody(exchange: Exchange) -> None:
        if len(site.heard) == 1:
            await exchange.refuse(-32022, data={"supported": [NEWEST], "requested": NEWEST})
        else:
            await exchange.result(
                {"resultType": "complete", "supportedVersions": [NEWEST], "capabilities": {}}
            )

    async with serve(modern(server_discover=moody)) as site, Client(http(site.url)) as client:
        assert client.revision == NEWEST
    assert site.methods() == ["server/discover", "server/discover"]


@pytest.mark.parametrize("code", [-32020, -32021])
async def test_an_error_of_the_stateless_era_is_no_reason_to_shake_hands(code: int) -> None:
    async def refuse(exchange: Exchange) -> None:
        await exchange.refuse(code)

    async with serve(modern(server_discover=refuse)) as site:
        with pytest.raises(McpError) as caught:
            async with Client(http(site.url)):
                pass
    assert caught.value.code == code  # L-50
    assert site.methods() == ["server/discover"]


async def test_an_unknown_method_under_404_is_an_error_of_that_request() -> None:
    async def unknown(exchange: Exchange) -> None:
        await exchange.refuse(-32601, status=404)

    async with serve(modern(prompts_list=unknown)) as site, Client(http(site.url)) as client:
        with pytest.raises(McpError) as caught:
            await client.list_prompts()
    assert caught.value.code == -32601


async def test_an_http_status_without_a_message_is_told_apart_from_errors_of_the_peer() -> None:
    async def busy(exchange: Exchange) -> None:
        await exchange.reply(503, b"busy")

    async with serve(modern(tools_list=busy)) as site, Client(http(site.url)) as client:
        with pytest.raises(McpError) as caught:
            await client.list_tools()
    assert caught.value.code == 503  # E-7
    assert "503" in caught.value.message


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"jsonrpc": "2.0"', b"[]", b"7"])
async def test_a_reply_that_cannot_be_read_fails_its_request(body: bytes) -> None:
    async def broken(exchange: Exchange) -> None:
        await exchange.reply(200, body, content_type="application/json")

    async with serve(modern(tools_list=broken)) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost):
            await client.list_tools()


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_reply_over_the_limit_fails_its_request(kind: str) -> None:
    async def huge(exchange: Exchange) -> None:
        await exchange.reply(200, b'data: "' + b"x" * 5000, content_type=kind)

    async with serve(modern(tools_list=huge)) as site, Client(http(site.url, limit=4000)) as client:
        with pytest.raises(ConnectionLost):
            await client.list_tools()


async def test_a_reply_that_could_grow_is_not_unpacked() -> None:
    packed = gzip.compress(gzip.compress(b'"' + b"x" * 20_000_000))

    async def bomb(exchange: Exchange) -> None:
        await exchange.reply(200, packed, content_type="application/json", content_encoding="gzip, gzip")

    async with serve(modern(tools_list=bomb)) as site, Client(http(site.url)) as client:
        with pytest.raises(ConnectionLost, match="compresses"):
            await client.list_tools()
    assert {heard.headers["accept-encoding"] for heard in site.heard} == {"identity"}


async def test_a_server_out_of_reach_is_a_lost_connection() -> None:
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        port = listener.extra(anyio.abc.SocketAttribute.local_port)
    with anyio.fail_after(PATIENCE), pytest.raises(ConnectionLost) as caught:
        async with Client(http(f"http://127.0.0.1:{port}/mcp?key=secret")):
            pass
    assert "secret" not in str(caught.value)
