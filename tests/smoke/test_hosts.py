"""Servers as hosts start them, each in its own way. A server decides per request and never gives up."""

import signal
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from .process import (
    PROMISE,
    SLACK,
    Process,
    call,
    initialize,
    notification,
    ping,
    request,
    start,
    text_of,
)

ODD: list[Any] = [
    {},
    {"jsonrpc": "1.0", "id": 1, "method": "ping"},
    {"jsonrpc": "2.0", "id": None, "method": "ping"},
    {"jsonrpc": "2.0", "id": 1.5, "method": "ping"},
    {"jsonrpc": "2.0", "id": True, "method": "ping"},
    {"jsonrpc": "2.0", "id": [], "method": "ping"},
    {"jsonrpc": "2.0", "id": 10**400, "method": "no/such"},
    {"jsonrpc": "2.0", "id": "é" * 10_000, "method": "no/such"},
    {"jsonrpc": "2.0", "id": 1, "method": 7},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": []},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize"},
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 7}},
    {"jsonrpc": "2.0", "id": 1, "result": {}},
    {"jsonrpc": "2.0", "id": 1, "error": "what"},
    {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "hang_loop"}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": {}}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": 7}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": {"progressToken": []}}},
    [],
    [[]],
    [{"jsonrpc": "2.0", "id": 1, "method": "ping"}] * 300,
    "text",
    7,
    None,
    True,
]


@pytest.mark.parametrize("signalled", ["SIGTERM", "SIGINT"])
def test_a_probe_that_is_terminated_as_soon_as_it_is_answered_ends_well(signalled: str) -> None:
    with start("worker.py") as worker:
        assert "2026-07-28" in worker.ask(request(0, "server/discover"))["result"]["supportedVersions"]
        worker.kill(signal.Signals[signalled])
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_the_first_message_may_be_a_real_request() -> None:
    with start("worker.py") as worker:
        assert worker.say(call(0, "echo", text="first")) == "first"


def test_a_stream_may_be_opened_right_after_discovery() -> None:
    with start("worker.py") as worker:
        worker.ask(request(0, "server/discover"))
        worker.send(
            request(1, "subscriptions/listen", notifications={"resourceSubscriptions": ["fixed:///one"]})
        )
        assert worker.read()["method"] == "notifications/subscriptions/acknowledged"


def test_initialize_may_follow_discovery() -> None:
    with start("worker.py") as worker:
        worker.ask(request(0, "server/discover"))
        assert worker.ask(initialize(1))["result"]["protocolVersion"] == "2025-11-25"


def test_initialize_may_follow_a_refused_probe() -> None:
    with start("worker.py") as worker:
        assert "error" in worker.ask({"jsonrpc": "2.0", "id": 0, "method": "server/discover"})
        assert worker.ask(initialize(1, "2024-11-05"))["result"]["protocolVersion"] == "2024-11-05"


def test_both_eras_share_one_connection() -> None:
    with start("worker.py") as worker:
        worker.ask(initialize(0, "2025-06-18"))
        worker.send(notification("initialized"))
        old = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": "old"}},
        }
        assert [text_of(worker.ask(old)), worker.say(call(2, "echo", text="new"))] == ["old", "new"]


def test_nothing_is_sent_before_the_first_answer() -> None:
    with start("worker.py") as worker:
        worker.send(initialize("first"))
        assert worker.read()["id"] == "first"


def test_a_host_that_pipelines_the_whole_handshake_is_served() -> None:
    with start("worker.py") as worker:
        listed = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        worker.send(initialize(1), notification("initialized"), listed)
        assert [worker.read()["id"], worker.read()["id"]] == [1, 2]


@pytest.fixture(scope="module")
def worker() -> Iterator[Process]:
    with start("worker.py") as process:
        yield process


@pytest.mark.parametrize("id", [0, -1, 2**53, "", "0", "ü", "x" * 1000])
def test_ids_come_back_as_they_were_sent(worker: Process, id: int | str) -> None:
    assert worker.ask(ping(id)) == {"jsonrpc": "2.0", "id": id, "result": {}}


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: str(odd)[:60])
def test_a_process_does_not_exit_on_what_it_cannot_take(worker: Process, odd: Any) -> None:
    worker.send(odd, ping("still there"))
    while (answer := worker.read()).get("id") != "still there":
        assert "error" in answer
    assert answer["result"] == {}


def test_a_host_may_start_the_same_server_many_times_at_once() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(start("worker.py")) for _ in range(10)]
        for server in servers:
            server.send(initialize(1))
        assert {server.read()["id"] for server in servers} == {1}
