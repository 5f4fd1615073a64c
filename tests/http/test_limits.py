"""What clients may cost: calls, listeners, sessions, connections and bytes all have a limit, and beyond it an answer."""

import select
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from ..smoke.process import DEADLINE
from .process import (
    BOTH,
    HttpServer,
    Wire,
    http,
    initialize,
    listen,
    open_session,
    ping,
    tool_call,
    with_log_level,
)

ROOM = 40  # MiB: a large answer and its copies on the way out
SMALL = {"max_calls": 2, "max_waiting": 1, "max_listeners": 2, "max_sessions": 2, "stalled_seconds": 0.4}
LARGE = 8_000_000


@pytest.fixture
def tight() -> Iterator[HttpServer]:
    """A server that can hardly do anything at once."""
    with HttpServer("--max-result-chars", str(LARGE), settings=SMALL) as process:
        yield process


@pytest.fixture(scope="module")
def impatient() -> Iterator[HttpServer]:
    """A server that drops whoever does not read."""
    with HttpServer(settings={"stalled_seconds": 0.4}) as process:
        yield process


def test_calls_beyond_the_limit_wait_and_beyond_that_are_refused(tight: HttpServer) -> None:
    with ExitStack() as stack:
        wires = [stack.enter_context(tight.connect()) for _ in range(3)]
        for wire in wires:
            wire.send(http(*tool_call("wait")))
        refused = wait_for_status(tight, 503)
        assert refused == -32603
        for wire in wires[:2]:
            wire.socket.close()
        # The two that were served are cancelled; the one that waited has its turn.
        tight.hear("wait cancelled", times=2)
        tight.hear("waiting", times=3)
        assert tight.lives()


def wait_for_status(server: HttpServer, status: int) -> int:
    """Call until that is the answer; the code of its error."""
    for _ in range(500):
        with server.connect() as wire:
            wire.send(http(*tool_call("echo", text="hello")))
            wire.socket.settimeout(0.2)
            try:
                answer = wire.read()
            except TimeoutError:
                continue  # it waits for its turn; the next one will not
        if answer.status == status:
            return answer.json()["error"]["code"]
    raise AssertionError(f"never {status}")


def test_listeners_beyond_the_limit_are_refused_until_one_leaves(tight: HttpServer) -> None:
    with tight.connect() as first, tight.connect() as second:
        for wire in (first, second):
            wire.send(http(*listen())).read_until(b"acknowledged")
        assert tight.ask(*listen()).status == 503
        assert tight.lives()
        second.socket.close()
        for _ in range(2000):
            with tight.connect() as third:
                if third.send(http(*listen())).read_head().status == 200:
                    return
        pytest.fail("the place of a listener that left is not given to another one")


def test_sessions_beyond_the_limit_are_refused_until_one_ends(tight: HttpServer) -> None:
    first = open_session(tight)
    open_session(tight)
    refused = tight.ask(initialize())
    assert (refused.status, "retry-after" in refused.fields) == (503, True)
    assert tight.ask(ping(), first).status == 200
    assert tight.ask(None, first, verb="DELETE").status == 204
    open_session(tight)


def test_old_streams_are_limited_like_sessions(tight: HttpServer) -> None:
    with tight.connect() as first, tight.connect() as second:
        for wire in (first, second):
            assert wire.send(http(verb="GET", path="/sse")).read_head().status == 200
        assert tight.ask(None, verb="GET", path="/sse").status == 503


def test_an_initialize_that_is_refused_leaves_no_session(tight: HttpServer) -> None:
    for _ in range(5):
        broken = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
        assert "error" in tight.ask(broken).json()
    open_session(tight)


def test_a_client_that_does_not_read_a_large_answer_is_dropped(tight: HttpServer) -> None:
    with tight.connect() as wire:
        wire.send(http(*tool_call("big", size=LARGE)))
        wire.read_head()
        assert closes(tight, wire)


def test_large_answers_that_nobody_reads_cost_bounded_memory() -> None:
    with (
        HttpServer("--max-result-chars", str(LARGE), settings={**SMALL, "max_calls": 8}) as server,
        ExitStack() as stack,
    ):
        server.call("big", size=LARGE)
        before = server.memory("VmRSS")
        for _ in range(5):
            wires = [stack.enter_context(server.connect()) for _ in range(4)]
            for wire in wires:
                wire.send(http(*tool_call("big", size=LARGE))).read_head()
            assert all(closes(server, wire) for wire in wires)
        assert server.memory("VmRSS") - before < 4 * LARGE // 1_000_000 + ROOM


def closes(server: HttpServer, wire: Wire) -> bool:
    """Whether the server hangs up on a client that reads nothing; other clients are served meanwhile."""
    import select

    poll = select.poll()
    poll.register(wire.socket, select.POLLHUP | select.POLLERR | select.POLLRDHUP)
    for _ in range(100):
        assert server.lives()
        if poll.poll(100):
            return True
    return False


def test_a_flood_of_events_waits_for_its_reader_and_ends_with_it(impatient: HttpServer) -> None:
    impatient.lives()
    before = impatient.memory("VmRSS")
    message, fields = tool_call("flood", size=100_000, times=10_000)
    with impatient.connect() as wire:
        wire.send(http(with_log_level(message, "debug"), fields)).read_head()
        impatient.hear("flood cancelled")
    assert impatient.memory("VmRSS") - before < ROOM
    assert impatient.lives()


def test_a_reader_that_reads_gets_everything(impatient: HttpServer) -> None:
    message, fields = tool_call("flood", size=100_000, times=100)
    with impatient.connect() as wire:
        answer = wire.send(http(with_log_level(message, "debug"), fields)).read()
    assert [len(event["params"]["data"]) for event in answer.events()[:-1]] == [100_000] * 100


def test_a_session_whose_stream_nobody_reads_costs_bounded_memory(impatient: HttpServer) -> None:
    session = open_session(impatient)
    params = {"name": "flood", "arguments": {"size": 100_000, "times": 1_000}}
    before = impatient.memory("VmRSS")
    with impatient.connect() as wire:
        wire.send(http({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}, session))
        wire.read_head()
        assert closes(impatient, wire)
    assert impatient.memory("VmRSS") - before < ROOM
    # H-10: nobody cancelled the call, so it goes on, and the session with it.
    assert impatient.ask(ping(), session).status == 200


def test_many_idle_connections_keep_nobody_out(server: HttpServer) -> None:
    server.lives()
    before, memory = server.descriptors(), server.memory("VmRSS")
    with ExitStack() as stack:
        wires = [stack.enter_context(server.connect()) for _ in range(200)]
        for wire in wires:
            wire.send(http(*tool_call("echo", text="hello")))
        assert {wire.read().status for wire in wires} == {200}
        assert server.lives()
        assert server.memory("VmRSS") - memory < ROOM
    for _ in range(2000):
        if server.lives() and server.descriptors() <= before:
            return
    pytest.fail("connections stay open")


def test_connections_beyond_the_limit_are_refused() -> None:
    with HttpServer(settings={"max_connections": 5}) as server, ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(server.connect())
        answer = server.ask(*tool_call("echo", text="hello"))
        assert answer.status == 503


def test_connections_far_beyond_the_limit_are_not_even_held() -> None:
    with HttpServer(settings={"max_connections": 5}) as server, ExitStack() as stack:
        before = server.descriptors()
        wires = [stack.enter_context(server.connect()) for _ in range(200)]
        assert wires[-1].read_rest() == b""
        assert server.descriptors() - before < 100
        stack.close()
        while server.descriptors() > before:
            pass  # until it has noticed
        assert server.lives()


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit there")
def test_the_limit_of_the_system_is_raised_to_our_own() -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))  # what a server is started with
    try:
        server = HttpServer()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    with server:
        now, _ = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        assert now >= min(4096, hard) or now == resource.RLIM_INFINITY
        assert server.lives()


def test_long_bodies_share_a_room_and_give_it_back() -> None:
    size = 1_000_000
    with HttpServer(settings={"max_body": size, "max_bodies": size}) as server:
        begun = http(*tool_call("echo", text="x" * (size - 5000)))
        with server.connect() as first, server.connect() as second:
            first.send(begun[:-1])
            second.send(begun[:-1])
            # Whichever was read first waits for its end, and leaves the other no room.
            served, refused = _tell_apart(first, second)
            assert refused.read().status == 503
            assert refused.read_rest() == b""
            assert server.lives()
            assert served.send(begun[-1:]).read().status == 200
            for _ in range(3):
                assert server.ask(*tool_call("echo", text="x" * (size - 5000))).status == 200
        with server.connect() as broken:
            broken.send(begun[:-1])
        while server.ask(*tool_call("echo", text="x" * (size - 5000))).status != 200:
            pass  # until it has noticed that the client is gone


def _tell_apart(first: Wire, second: Wire) -> tuple[Wire, Wire]:
    """The one that is waited for, and the one that got an answer."""
    ready, _, _ = select.select([first.socket, second.socket], [], [], DEADLINE)
    return (second, first) if first.socket in ready else (first, second)


def test_an_idle_connection_is_closed_after_a_while() -> None:
    with HttpServer(settings={"keep_alive_seconds": 1}) as server, server.connect() as wire:
        wire.send(http(*tool_call("echo", text="hello")))
        assert wire.read().status == 200
        assert wire.read_rest() == b""


def test_a_standing_stream_is_kept_alive_by_comments() -> None:
    with HttpServer(settings={"ping_seconds": 0.1}) as server, server.connect() as wire:
        session = open_session(server)
        wire.send(http(None, [*session, ("Accept", BOTH)], verb="GET"))
        wire.read_until(b": keep-alive\n\n")
        wire.read_until(b": keep-alive\n\n")
