"""Requests of the client: answers, late and never; questions on the way; connections that end."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from mcp_server_core import Answers, Client, ConnectionLost, McpError, RequestTimeout
from mcp_server_core.client.client import MAX_PAGES, MAX_ROUNDS
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.revisions import Revision

from .scripted import PATIENCE, Script, Scripted, Wire

pytestmark = pytest.mark.anyio
NEWEST: Revision = "2026-07-28"
DONE: Json = {"resultType": "complete", "content": []}


@asynccontextmanager
async def client_of(
    script: Script, *, stateless: bool = True, **options: Any
) -> AsyncGenerator[tuple[Client, Wire]]:
    """A client of a script that begins after the opening."""

    async def whole(wire: Wire) -> None:
        await (wire.discover() if stateless else wire.initialize())
        await script(wire)

    server = Scripted(whole)
    revision = NEWEST if stateless else "2025-11-25"
    with anyio.fail_after(PATIENCE):
        async with Client(server, revision=revision, **options) as client:
            yield client, server.wires[0]


both = pytest.mark.parametrize("stateless", [True, False])


@both
async def test_answers_find_their_requests_in_any_order(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        asked = [await wire.expect("tools/call") for _ in range(3)]
        for request in reversed(asked):
            await wire.reply(
                request, {**DONE, "content": [{"type": "text", "text": request["params"]["name"]}]}
            )
        await wire.until_gone()

    found: dict[str, str] = {}
    async with client_of(script, stateless=stateless) as (client, _):

        async def call(name: str) -> None:
            found[name] = (await client.call_tool(name))["content"][0]["text"]

        async with anyio.create_task_group() as tasks:
            for name in "abc":
                tasks.start_soon(call, name)
    assert found == {"a": "a", "b": "b", "c": "c"}


@both
async def test_ids_are_never_used_twice(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        for _ in range(5):
            await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, wire):
        for _ in range(5):
            await client.call_tool("t")
    ids = [message["id"] for message in wire.heard if "id" in message]
    assert len(set(ids)) == len(ids)  # J-3, MR-7


@both
async def test_an_error_of_the_server_is_an_exception_with_its_code_and_data(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        await wire.refuse(await wire.expect("tools/call"), 77, "nope", {"a": 1})
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        with pytest.raises(McpError, match="nope") as caught:
            await client.call_tool("t")
    assert (caught.value.code, caught.value.data) == (77, {"a": 1})


@both
async def test_a_request_that_is_not_answered_times_out_and_is_cancelled(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        cancelled = await wire.expect("notifications/cancelled")
        assert cancelled["params"] == {"requestId": asked["id"]}  # L-19
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        with pytest.raises(RequestTimeout):
            await client.call_tool("t", timeout=0.01)
        assert await client.call_tool("t")


@both
async def test_a_caller_who_is_cancelled_cancels_the_request(stateless: bool) -> None:
    asked = anyio.Event()
    cancelled: list[Json] = []

    async def script(wire: Wire) -> None:
        request = await wire.expect("tools/call")
        asked.set()
        cancelled.append((await wire.expect("notifications/cancelled"))["params"])
        assert cancelled == [{"requestId": request["id"]}]
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "t")
            await asked.wait()
            tasks.cancel_scope.cancel()
        assert await client.call_tool("t")
    assert len(cancelled) == 1  # CN-1


@both
async def test_a_late_answer_is_ignored(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        late = await wire.expect("tools/call")
        await wire.expect("notifications/cancelled")
        await wire.reply(late, {**DONE, "content": [{"type": "text", "text": "late"}]})
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        with pytest.raises(RequestTimeout):
            await client.call_tool("t", timeout=0.01)
        assert (await client.call_tool("t"))["content"] == []  # CN-3


@both
async def test_an_answer_that_comes_twice_counts_once(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.reply(asked, DONE)
        await wire.reply(asked, {**DONE, "content": [{"type": "text", "text": "again"}]})
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        for _ in range(2):
            assert (await client.call_tool("t"))["content"] == []


@both
async def test_everybody_who_waits_is_told_when_the_connection_is_lost(stateless: bool) -> None:
    async def script(wire: Wire) -> None:
        for _ in range(3):
            await wire.expect("tools/call")

    told: list[type[Exception]] = []
    async with client_of(script, stateless=stateless) as (client, _):

        async def call() -> None:
            try:
                await client.call_tool("t")
            except (ConnectionLost, McpError, RequestTimeout) as error:
                told.append(type(error))

        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(call)
        assert told == [ConnectionLost] * 3
        with pytest.raises(ConnectionLost):
            await client.call_tool("t")


@both
async def test_a_server_that_does_not_read_cannot_hold_a_request_beyond_its_timeout(stateless: bool) -> None:
    stuck = anyio.Event()

    async def script(wire: Wire) -> None:
        await stuck.wait()

    told: list[type[Exception]] = []
    async with client_of(script, stateless=stateless) as (client, _):

        async def call() -> None:
            try:
                await client.call_tool("t", timeout=0.05)
            except (ConnectionLost, McpError, RequestTimeout) as error:
                told.append(type(error))

        async with anyio.create_task_group() as tasks:
            for _ in range(40):
                tasks.start_soon(call)
        stuck.set()
    assert told == [RequestTimeout] * 40


ODD: list[tuple[str, Any]] = [
    ("notifications/progress", {"progressToken": [], "progress": 1}),
    ("notifications/progress", {"progressToken": {"a": 1}}),
    ("notifications/progress", {}),
    ("notifications/progress", {"progressToken": "its own"}),
    ("notifications/progress", {"progressToken": "its own", "progress": "x", "total": [], "message": 5}),
    ("notifications/message", {"level": [], "data": None}),
    ("notifications/message", None),
    ("notifications/cancelled", {"requestId": []}),
    ("notifications/cancelled", {"requestId": {}}),
    ("notifications/cancelled", None),
    ("notifications/resources/updated", {"uri": []}),
    ("notifications/resources/updated", {"uri": 1, "_meta": {"io.modelcontextprotocol/subscriptionId": []}}),
    ("notifications/tools/list_changed", {"_meta": {"io.modelcontextprotocol/subscriptionId": {}}}),
    ("notifications/tools/list_changed", {"_meta": "x"}),
    ("notifications/subscriptions/acknowledged", {"_meta": {"io.modelcontextprotocol/subscriptionId": []}}),
    ("notifications/something/new", {"a": 1}),
]


@both
@pytest.mark.parametrize(("method", "params"), ODD)
async def test_an_odd_notification_spoils_only_itself(stateless: bool, method: str, params: Any) -> None:
    params = dict(params) if params is not None else None

    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        if params and params.get("progressToken") == "its own":
            params["progressToken"] = asked["params"]["_meta"]["progressToken"]
        await wire.notify(method, params)
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async def ignore(*args: Any) -> None:
        pass

    async with client_of(script, stateless=stateless, on_log=ignore) as (client, _):
        assert (await client.call_tool("t", progress=ignore))["content"] == []


@both
@pytest.mark.parametrize(
    "message",
    [
        5,
        "x",
        None,
        [],
        {},
        {"jsonrpc": "2.0"},
        {"jsonrpc": "2.0", "id": 1},
        {"jsonrpc": "2.0", "id": [], "result": {}},
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "parse"}},
        {"jsonrpc": "2.0", "error": {"code": -32700, "message": "parse"}},
        {"jsonrpc": "2.0", "id": 999, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "method": 5},
        {"jsonrpc": "2.0", "method": "notifications/message", "params": []},
    ],
)
async def test_what_is_no_message_spoils_only_itself(stateless: bool, message: Any) -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.channel.send(message)
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        assert (await client.call_tool("t"))["content"] == []


@both
@pytest.mark.parametrize("result", [5, "x", None, []])
async def test_a_result_that_is_no_object_is_an_error(stateless: bool, result: Any) -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/call"), result)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        with pytest.raises(McpError):
            await client.call_tool("t")


async def test_a_callback_that_fails_does_not_end_the_connection() -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.notify(
            "notifications/progress",
            {"progressToken": asked["params"]["_meta"]["progressToken"], "progress": 1},
        )
        await wire.notify("notifications/message", {"level": "info", "data": 1})
        await wire.reply(asked, DONE)
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async def fails(*args: Any) -> None:
        raise ZeroDivisionError

    async with client_of(script, on_log=fails) as (client, _):
        await client.call_tool("t", progress=fails)
        await client.call_tool("t")


async def test_a_progress_callback_may_itself_ask_the_server() -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        token = asked["params"]["_meta"]["progressToken"]
        await wire.notify("notifications/progress", {"progressToken": token, "progress": 1})
        await wire.reply(await wire.expect("tools/list"), {"resultType": "complete", "tools": []})
        await wire.reply(asked, DONE)
        await wire.until_gone()

    listed: list[Any] = []
    async with client_of(script) as (client, _):

        async def look(done: float, total: float | None, message: str | None) -> None:
            listed.append(await client.list_tools())

        await client.call_tool("t", progress=look)
    assert listed == [[]]


async def test_every_stateless_request_carries_its_envelope() -> None:
    async def script(wire: Wire) -> None:
        for _ in range(2):
            await wire.reply(await wire.receive(), {**DONE, "tools": []})
        await wire.until_gone()

    async with client_of(script, answers=Answers(roots=[]), log_level="debug") as (client, wire):
        await client.call_tool("t")
        await client.list_tools()
    for message in wire.heard:
        assert message["params"]["_meta"] == {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientCapabilities": {"roots": {}},
            "io.modelcontextprotocol/clientInfo": {"name": "mcp-server-core", "version": "0.1.0"},
            "io.modelcontextprotocol/logLevel": "debug",
        }


async def test_a_handshake_request_carries_nothing_of_the_stateless_era() -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/call"), {"content": []})
        await wire.until_gone()

    async with client_of(script, stateless=False) as (client, wire):
        await client.call_tool("t", {"a": 1})
    assert wire.heard[-1]["params"] == {"name": "t", "arguments": {"a": 1}}


async def test_pages_are_read_until_there_is_no_cursor_and_an_empty_cursor_is_one() -> None:
    async def script(wire: Wire) -> None:
        for cursor, following in ((None, "a"), ("a", ""), ("", None)):
            asked = await wire.expect("tools/list")
            assert asked["params"].get("cursor") == cursor
            page: Json = {"resultType": "complete", "tools": [{"name": cursor or "first"}]}
            await wire.reply(asked, page if following is None else {**page, "nextCursor": following})
        await wire.until_gone()

    async with client_of(script) as (client, _):
        assert len(await client.list_tools()) == 3  # PG-2


async def test_a_result_without_a_type_is_complete() -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/call"), {"content": []})
        await wire.until_gone()

    async with client_of(script) as (client, _):
        assert await client.call_tool("t") == {"content": []}  # L-35


@pytest.mark.parametrize("kind", ["task", "", 5, None])
async def test_a_result_of_unknown_type_is_an_error(kind: Any) -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/call"), {"resultType": kind, "content": []})
        await wire.until_gone()

    async with client_of(script) as (client, _):
        with pytest.raises(McpError):
            await client.call_tool("t")  # L-35


async def test_a_handshake_result_may_have_a_member_of_that_name() -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/call"), {"content": [], "resultType": "mine"})
        await wire.until_gone()

    async with client_of(script, stateless=False) as (client, _):
        assert (await client.call_tool("t"))["resultType"] == "mine"


QUESTION = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": {"type": "object", "properties": {}}},
}


def yes(asked: list[Json]) -> Answers:
    async def elicit(params: Json) -> Json:
        asked.append(params)
        return {"action": "accept", "content": {}}

    return Answers(elicit=elicit)


async def test_a_retry_repeats_the_request_with_the_answers_and_the_state_as_it_was() -> None:
    state = 'odd "state"\u2028 é'

    async def script(wire: Wire) -> None:
        first = await wire.expect("tools/call")
        await wire.reply(
            first, {"resultType": "input_required", "inputRequests": {"k": QUESTION}, "requestState": state}
        )
        second = await wire.expect("tools/call")
        await wire.reply(second, DONE)
        await wire.until_gone()

    asked: list[Json] = []
    async with client_of(script, answers=yes(asked)) as (client, wire):
        await client.call_tool("t", {"a": 1})
    first, second = wire.heard[-2:]
    assert first["id"] != second["id"]
    assert second["params"] == {
        **first["params"],
        "inputResponses": {"k": {"action": "accept", "content": {}}},
        "requestState": state,
    }
    assert len(asked) == 1


async def test_no_state_is_sent_where_none_was_given_and_an_old_one_is_not_kept() -> None:
    async def script(wire: Wire) -> None:
        replies: list[Json] = [
            {"resultType": "input_required", "requestState": "one"},
            {"resultType": "input_required", "inputRequests": {"k": QUESTION}},
            DONE,
        ]
        for reply in replies:
            await wire.reply(await wire.expect("tools/call"), reply)
        await wire.until_gone()

    async with client_of(script, answers=yes([])) as (client, wire):
        await client.call_tool("t")
    last = wire.heard[-3:]
    assert [message["params"].get("requestState") for message in last] == [None, "one", None]  # MR-6
    assert "inputResponses" not in last[1]["params"]


async def test_a_server_that_asks_for_ever_is_given_up() -> None:
    async def script(wire: Wire) -> None:
        while True:
            asked = await wire.expect("tools/call")
            await wire.reply(asked, {"resultType": "input_required", "inputRequests": {"k": QUESTION}})

    asked: list[Json] = []
    async with client_of(script, answers=yes(asked)) as (client, _):
        with pytest.raises(McpError, match=str(MAX_ROUNDS)):
            await client.call_tool("t")  # MR-16
    assert len(asked) <= MAX_ROUNDS


@pytest.mark.parametrize(
    "requests",
    [
        {"k": {"method": "sampling/createMessage", "params": {}}},
        {"k": {"method": "something/new"}},
        {"k": {}},
        {"k": "x"},
        {"k": {"method": 5}},
        {"k": {"method": "elicitation/create", "params": "x"}},
        {"k": None},
    ],
)
async def test_a_question_the_client_cannot_answer_is_an_error_and_not_retried(requests: Any) -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.reply(asked, {"resultType": "input_required", "inputRequests": requests})
        await wire.until_gone()

    async with client_of(script, answers=yes([])) as (client, wire):
        with pytest.raises(McpError):
            await client.call_tool("t")
        assert [message["method"] for message in wire.heard].count("tools/call") == 1  # MR-5


@pytest.mark.parametrize("requests", ["x", [], None, 5])
async def test_questions_of_no_known_shape_are_an_error(requests: Any) -> None:
    async def script(wire: Wire) -> None:
        while True:
            asked = await wire.expect("tools/call")
            await wire.reply(asked, {"resultType": "input_required", "inputRequests": requests})

    async with client_of(script, answers=yes([])) as (client, _):
        with pytest.raises(McpError):
            await client.call_tool("t")


async def test_a_handshake_server_asks_and_is_answered() -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        for id, (method, params) in enumerate(
            [("ping", None), ("roots/list", None), ("elicitation/create", QUESTION["params"])]
        ):
            question: Json = {"jsonrpc": "2.0", "id": f"q{id}", "method": method}
            await wire.channel.send(question if params is None else {**question, "params": params})
        answers = {message["id"]: message["result"] for message in [await wire.receive() for _ in range(3)]}
        assert answers == {
            "q0": {},
            "q1": {"roots": [{"uri": "file:///a"}]},
            "q2": {"action": "accept", "content": {}},
        }
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async def elicit(params: Json) -> Json:
        return {"action": "accept", "content": {}}

    answers = Answers(roots=["file:///a"], elicit=elicit)
    async with client_of(script, stateless=False, answers=answers) as (client, _):
        assert await client.call_tool("t")


@both
async def test_what_the_client_cannot_answer_is_method_not_found(stateless: bool) -> None:
    """L-36: a stateless server does not ask at all, not even for a ping."""
    method = "ping" if stateless else "sampling/createMessage"

    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.channel.send({"jsonrpc": "2.0", "id": "q", "method": method, "params": {}})
        if not stateless:
            assert (await wire.receive())["error"]["code"] == -32601
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async with client_of(script, stateless=stateless) as (client, _):
        assert await client.call_tool("t")


async def test_a_stateless_client_writes_no_responses() -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.channel.send({"jsonrpc": "2.0", "id": "q", "method": "roots/list"})
        await wire.reply(asked, DONE)
        await wire.reply(await wire.expect("tools/call"), DONE)
        await wire.until_gone()

    async with client_of(script, answers=Answers(roots=["file:///a"])) as (client, wire):
        await client.call_tool("t")
        await client.call_tool("t")
    assert [message for message in wire.heard if "method" not in message] == []  # S-6


async def test_a_question_the_server_takes_back_is_not_answered() -> None:
    started = anyio.Event()

    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.channel.send(
            {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": QUESTION["params"]}
        )
        await started.wait()
        await wire.notify("notifications/cancelled", {"requestId": "q"})
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async def elicit(params: Json) -> Json:
        started.set()
        await anyio.sleep_forever()
        return {}

    async with client_of(script, stateless=False, answers=Answers(elicit=elicit)) as (client, wire):
        await client.call_tool("t")
    assert all("result" not in message and "error" not in message for message in wire.heard)


async def test_an_answer_that_fails_is_an_error_for_the_server_and_no_more() -> None:
    async def script(wire: Wire) -> None:
        asked = await wire.expect("tools/call")
        await wire.channel.send(
            {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": QUESTION["params"]}
        )
        error = (await wire.receive())["error"]
        assert error == {"code": -32603, "message": "Internal error"}
        await wire.reply(asked, DONE)
        await wire.until_gone()

    async def elicit(params: Json) -> Json:
        raise ZeroDivisionError("secret")

    async with client_of(script, stateless=False, answers=Answers(elicit=elicit)) as (client, _):
        await client.call_tool("t")


async def test_the_timeout_of_one_request_leaves_the_others_alone() -> None:
    async def script(wire: Wire) -> None:
        slow = await wire.expect("tools/call")
        fast = await wire.expect("tools/call")
        await wire.expect("notifications/cancelled")
        await wire.reply(slow if slow["params"]["name"] == "patient" else fast, DONE)
        await wire.until_gone()

    async with client_of(script) as (client, _), anyio.create_task_group() as tasks:

        async def hurry() -> None:
            with pytest.raises(RequestTimeout):
                await client.call_tool("hurried", timeout=0.01)

        tasks.start_soon(hurry)
        assert await client.call_tool("patient") == DONE


async def test_a_list_without_end_is_given_up() -> None:
    async def script(wire: Wire) -> None:
        for _ in range(MAX_PAGES):
            await wire.reply(await wire.expect("tools/list"), {"tools": [], "nextCursor": "again"})
        await wire.until_gone()

    async with client_of(script, stateless=False) as (client, _):
        with pytest.raises(McpError, match="pages"):
            await client.list_tools()


@pytest.mark.parametrize("page", [{}, {"tools": "none"}, {"tools": None}])
async def test_a_list_that_is_none_is_an_error(page: Json) -> None:
    async def script(wire: Wire) -> None:
        await wire.reply(await wire.expect("tools/list"), page)
        await wire.until_gone()

    async with client_of(script, stateless=False) as (client, _):
        with pytest.raises(McpError, match="tools/list holds no tools"):
            await client.list_tools()
