"""How a server ends: what is in flight is finished, what stands is ended, and nothing keeps the process."""

import os
import select
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from .process import (
    BOTH,
    HttpServer,
    Wire,
    http,
    initialize,
    listen,
    open_session,
    tool_call,
    with_capabilities,
)

PROMISE = 2.0  # seconds in which an idle process is gone
SLACK = 1.0  # seconds that a loaded machine may add
SIGNALS = [signal.SIGTERM, signal.SIGINT]


def begin_wait(server: HttpServer, wire: Wire) -> None:
    """A call that is in flight until a line comes on standard input."""
    wire.send(http(*tool_call("wait_for_line")))
    server.hear("waiting")


def wait_until_stopping(server: HttpServer) -> None:
    """Wait until nobody can connect any more, or the health says so."""
    for _ in range(5000):
        try:
            if server.ask(None, verb="GET", path="/health").status == 503:
                return
        except (ConnectionError, AssertionError):
            return
    pytest.fail("the server does not stop")


@pytest.mark.parametrize("number", SIGNALS)
def test_an_idle_server_is_gone_at_once(number: signal.Signals) -> None:
    with HttpServer() as server, server.connect() as idle, server.connect():
        idle.send(http(*tool_call("echo", text="hello"))).read()
        server.kill(number)
        assert server.wait(PROMISE + SLACK) == 0
        assert server.complaints().count("\n") == 1


@pytest.mark.parametrize("number", SIGNALS)
def test_a_call_in_flight_is_finished_and_answered(number: signal.Signals) -> None:
    with HttpServer() as server, server.connect() as wire:
        begin_wait(server, wire)
        server.kill(number)
        wait_until_stopping(server)
        server.send_bytes(b"last words\n")
        answer = wire.read()
        said = answer.json() if answer.fields["content-type"] == "application/json" else answer.events()[-1]
        assert said["result"]["content"][0]["text"] == "last words"
        assert server.wait(PROMISE + SLACK) == 0


def test_a_call_of_a_session_in_flight_is_finished_and_answered() -> None:
    with HttpServer() as server, server.connect() as wire:
        params = {"name": "wait_for_line", "arguments": {}}
        session = open_session(server)
        wire.send(http({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, session))
        server.hear("waiting")
        server.kill(signal.SIGTERM)
        wait_until_stopping(server)
        server.send_bytes(b"last words\n")
        assert b"last words" in wire.read().body
        assert server.wait(PROMISE + SLACK) == 0


def test_a_listener_gets_its_last_result_and_the_stream_ends() -> None:
    with HttpServer() as server, server.connect() as wire:
        wire.send(http(*listen())).read_until(b"acknowledged")
        server.kill(signal.SIGTERM)
        last = wire.read_event()
        assert (last["id"], last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"]) == ("l", "l")
        assert wire.read_rest().endswith(b"0\r\n\r\n")
        assert server.wait(PROMISE + SLACK) == 0


def test_standing_streams_end() -> None:
    with HttpServer() as server, server.connect() as standing, server.connect() as old:
        session = open_session(server)
        standing.send(http(None, [*session, ("Accept", BOTH)], verb="GET")).read_head()
        old.send(http(verb="GET", path="/sse")).read_until(b"session_id=")
        server.kill(signal.SIGTERM)
        assert [wire.read_rest().endswith(b"0\r\n\r\n") for wire in (standing, old)] == [True, True]
        assert server.wait(PROMISE + SLACK) == 0


def test_a_call_that_does_not_end_is_given_up_when_its_time_is_over() -> None:
    with HttpServer(settings={"drain_seconds": 1}) as server, server.connect() as wire:
        wire.send(http(*tool_call("wait")))
        server.hear("waiting")
        server.kill(signal.SIGTERM)
        with pytest.raises(TimeoutError):
            server.wait(0.5)
        assert server.wait(1 + PROMISE) == 0
        assert "Traceback" not in server.complaints()


def test_a_second_signal_does_not_wait() -> None:
    with HttpServer() as server, server.connect() as wire:
        wire.send(http(*tool_call("wait")))
        server.hear("waiting")
        server.kill(signal.SIGTERM)
        wait_until_stopping(server)
        server.kill(signal.SIGTERM)
        assert server.wait(PROMISE + SLACK) == 0
        assert "Traceback" not in server.complaints()


@pytest.mark.parametrize("twice", [False, True])
def test_a_thread_that_hangs_does_not_keep_the_process(twice: bool) -> None:
    with HttpServer(settings={"drain_seconds": 1}) as server, server.connect() as wire:
        wire.send(http(*tool_call("hang_thread")))
        server.hear("hanging")
        server.kill(signal.SIGTERM)
        if twice:
            wait_until_stopping(server)
            server.kill(signal.SIGINT)
        assert server.wait(1 + PROMISE + SLACK) == 0
        assert "Traceback" not in server.complaints()


def test_a_client_that_sends_half_a_request_does_not_keep_the_process() -> None:
    with HttpServer(settings={"drain_seconds": 1}) as server, server.connect() as wire:
        wire.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        server.lives()
        server.kill(signal.SIGTERM)
        assert server.wait(1 + PROMISE + SLACK) == 0


def test_signals_in_quick_succession_leave_no_traceback() -> None:
    with HttpServer() as server:
        server.lives()
        while server.alive:
            server.kill(signal.SIGINT)
            server.kill(signal.SIGTERM)
        assert (server.wait(), server.complaints().count("\n")) == (0, 1)


# Several processes.


@pytest.fixture
def team() -> Iterator[HttpServer]:
    """Two processes behind one port."""
    with HttpServer("--workers", "2") as process:
        yield process
        for pid in workers_of(process) if process.alive else []:
            os.kill(pid, signal.SIGKILL)


def workers_of(server: HttpServer) -> list[int]:
    return [int(pid) for pid in Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text().split()]


def pids_that_answer(server: HttpServer, wanted: int) -> set[int]:
    """Ask on new connections until so many processes have answered."""
    seen: set[int] = set()
    for _ in range(3000):
        try:
            seen.add(int(server.call("whoami")))
        except ConnectionError:
            continue  # it was killed with our connection in its queue
        if len(seen) == wanted:
            break
    return seen


def gone(pid: int) -> bool:
    """Whether a process ends within the promise."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([pidfd], [], [], PROMISE + SLACK)[0])
    finally:
        os.close(pidfd)


def test_both_workers_serve(team: HttpServer) -> None:
    assert pids_that_answer(team, 2) == set(workers_of(team))


def test_a_worker_that_is_killed_is_replaced() -> None:
    with HttpServer("--workers", "2") as team:
        first, second = sorted(pids_that_answer(team, 2))
        wait_a_second_of_calls(team)
        os.kill(first, signal.SIGKILL)
        assert gone(first)
        team.hear("ended with status")
        now = {second}
        for _ in range(3000):
            now |= pids_that_answer(team, 1)
            if len(now) == 2:
                break
        team.kill(signal.SIGTERM)
        assert (len(now), first in now, team.wait(PROMISE + SLACK)) == (2, False, 0)


def wait_a_second_of_calls(team: HttpServer) -> None:
    """A worker that dies within its first second is not replaced: it would die again."""
    from time import monotonic

    until = monotonic() + 1.1
    while monotonic() < until:
        team.lives()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_all_workers_and_leaves_no_orphan(team: HttpServer, number: signal.Signals) -> None:
    workers = workers_of(team)
    team.kill(number)
    assert team.wait(PROMISE + SLACK) == 0
    assert [gone(pid) for pid in workers] == [True, True]
    assert team.complaints().count("\n") == 1


def test_workers_do_not_outlive_a_parent_that_is_killed(team: HttpServer) -> None:
    workers = workers_of(team)
    team.kill(signal.SIGKILL)
    team.wait()
    left = [pid for pid in workers if not gone(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


def test_a_call_in_flight_in_a_worker_is_finished(team: HttpServer) -> None:
    with team.connect() as wire:
        begin_wait(team, wire)
        team.kill(signal.SIGTERM)
        wait_until_stopping(team)
        team.send_bytes(b"last words\n")
        assert b"last words" in wire.read().body
        assert team.wait(PROMISE + SLACK) == 0


def test_a_question_of_one_worker_can_be_answered_to_another(team: HttpServer) -> None:
    message, fields = tool_call("ask")
    message = with_capabilities(message, elicitation={})
    asked = team.ask(message, fields).json()["result"]
    answers = {key: {"action": "accept", "content": {"yes": True}} for key in asked["inputRequests"]}
    given = {"inputResponses": answers, "requestState": asked["requestState"]}
    again = {**message, "params": {**message["params"], **given}}
    said: set[str] = set()
    for _ in range(3000):
        said.add(team.ask(again, fields).json()["result"]["content"][0]["text"])
        if len(said) == 2:
            break
    assert said == {f"yes, says {pid}" for pid in workers_of(team)}


def test_a_handshake_is_refused_by_workers_and_told_what_is_spoken(team: HttpServer) -> None:
    refused = team.ask(initialize())
    error = refused.json()["error"]
    assert (refused.status, error["code"], error["data"]["supported"]) == (400, -32022, ["2026-07-28"])
    assert [team.ask(None, verb=verb).status for verb in ("GET", "DELETE")] == [405, 405]
    assert team.ask(None, verb="GET", path="/sse").status == 404
