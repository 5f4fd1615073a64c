"""Broken, hostile and unusual requests: each gets its status, tells nothing about the inside, and harms nobody else."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from .process import BOTH, HttpServer, Wire, http, listen, mirrored, request, tool_call

CALL = http(*tool_call("echo", text="hello"))
BODY = json.dumps(tool_call("echo", text="hello")[0]).encode()
HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: */*\r\nContent-Type: application/json\r\n"
MIRRORED = b"".join(f"{name}: {value}\r\n".encode() for name, value in mirrored("tools/call", "echo"))
ROOM = 24  # MiB that hostile input may cost: one body at its limit, and buffers
LEAKS = (b"Traceback", b"site-packages", b".py", b"/home", b"uvicorn", b"httptools")


@pytest.fixture(scope="module")
def hasty() -> Iterator[HttpServer]:
    """A server that waits for nobody and takes little."""
    small = {"head_seconds": 0.3, "body_seconds": 0.4, "stalled_seconds": 0.5, "ping_seconds": 0.1}
    with HttpServer(settings={**small, "max_body": 100_000}) as process:
        yield process


def with_body(body: bytes, *fields: bytes) -> bytes:
    """A call whose body is given as bytes."""
    lines = b"".join(field + b"\r\n" for field in (b"Content-Length: %d" % len(body), *fields))
    return HEAD + MIRRORED + lines + b"\r\n" + body


def raw(server: HttpServer, data: bytes) -> bytes:
    """Send bytes and say that no more come; everything that the server says before it hangs up."""
    with server.connect() as wire:
        wire.send(data)
        with suppress(OSError):  # it hung up first
            wire.socket.shutdown(1)
        return wire.read_rest()


def status(said: bytes) -> int | None:
    """The status of the first answer, if there is one."""
    return int(said.split(b" ", 2)[1]) if said.startswith(b"HTTP/1.1 ") else None


def assert_unharmed(server: HttpServer, said: bytes) -> None:
    assert not [word for word in LEAKS if word in said]
    assert server.lives()
    assert "Traceback" not in server.complaints()


# What is no HTTP, or not all of it.

BROKEN = {
    "garbage": b"\x00\xff\xfe garbage \r\n\r\n",
    "a TLS hello": bytes.fromhex("16030100f8010000f40303") + bytes(240),
    "an HTTP/2 preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(9),
    "version 3": b"GET /mcp HTTP/3.0\r\nHost: 127.0.0.1\r\n\r\n",
    "a NUL in a value": HEAD + b"X: a\x00b\r\n\r\n",
    "a NUL in the path": b"GET /m\x00cp HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    "a space before the colon": HEAD + b"Content-Length : 5\r\n\r\n",
    "a folded field": HEAD + b"X: a\r\n b\r\n\r\n",
    "a bare CR": HEAD + b"X: a\rY: b\r\n\r\n",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "the same length twice": HEAD + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a list of lengths": HEAD + b"Content-Length: 2, 2\r\n\r\n{}",
    "a signed length": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "a negative length": HEAD + b"Content-Length: -2\r\n\r\n{}",
    "a length of letters": HEAD + b"Content-Length: 0x2\r\n\r\n{}",
    "a length beyond 64 bits": HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n{}",
    "a length and chunks": HEAD
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "chunks and a length": HEAD
    + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "an unknown coding": HEAD + b"Transfer-Encoding: chunked, gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a chunk size of letters": HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a negative chunk size": HEAD + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a chunk longer than its size": HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_http_is_refused_and_the_connection_closed(server: HttpServer, data: bytes) -> None:
    said = raw(server, data)
    assert status(said) == 400
    assert said.count(b"HTTP/1.1 ") == 1
    assert_unharmed(server, said)


TRUNCATED = {
    "nothing": b"",
    "half a line": b"POST /m",
    "half a head": HEAD,
    "half a body": HEAD + b"Content-Length: 100\r\n\r\n{",
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\nff\r\n{",
    "no last chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
}


@pytest.mark.parametrize("data", TRUNCATED.values(), ids=TRUNCATED)
def test_a_request_that_ends_early_is_not_served(server: HttpServer, data: bytes) -> None:
    said = raw(server, data)
    assert status(said) in (None, 400)
    assert_unharmed(server, said)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("GET /mcp HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade", 400),
        ("TRACE /mcp HTTP/1.1", 405),
        ("PUT /mcp HTTP/1.1", 405),
        ("HEAD /mcp HTTP/1.1", 405),
        ("PATCH /mcp HTTP/1.1", 405),
        ("GET /m%63p HTTP/1.1", 400),
        ("GET //mcp HTTP/1.1", 404),
        ("GET /mcp// HTTP/1.1", 404),
        ("GET /mcp%00 HTTP/1.1", 404),
        ("GET /mcp%2f%2f HTTP/1.1", 404),
        ("GET /../mcp HTTP/1.1", 404),
        ("GET /%2e%2e/etc/passwd HTTP/1.1", 404),
        ("GET /%ff%fe HTTP/1.1", 404),
        ("GET /MCP HTTP/1.1", 404),
        ("GET /mcp?session_id=x#y HTTP/1.1", 400),
        ("GET http://127.0.0.1/mcp HTTP/1.1", 400),
        ("OPTIONS * HTTP/1.1", 404),
    ],
)
def test_an_unusual_request_line_is_taken_for_what_it_is(
    server: HttpServer, line: str, expected: int
) -> None:
    said = raw(server, f"{line}\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert status(said) == expected
    assert_unharmed(server, said)


def test_connect_is_no_tunnel(server: HttpServer) -> None:
    said = raw(server, b"CONNECT 127.0.0.1:80 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    assert status(said) in (400, 404, 405)
    assert_unharmed(server, said)


def test_the_host_of_an_absolute_url_does_not_replace_the_host_field(server: HttpServer) -> None:
    said = raw(server, b"GET http://127.0.0.1/mcp HTTP/1.1\r\nHost: evil.com\r\n\r\n")
    assert status(said) == 403


def test_a_client_of_http_1_0_is_served_and_the_connection_closed(server: HttpServer) -> None:
    assert b"hello" in raw(server, with_body(BODY).replace(b"HTTP/1.1", b"HTTP/1.0"))


# Size.


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(HEAD + b"X: " + b"a" * 10_000_000 + b"\r\n\r\n", id="one field"),
        pytest.param(HEAD + b"X-Much: aaaaaaaaaa\r\n" * 500_000 + b"\r\n", id="many fields"),
        pytest.param(HEAD + b"a" * 10_000_000 + b": x\r\n\r\n", id="one name"),
        pytest.param(b"GET /" + b"a" * 10_000_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", id="one path"),
        pytest.param(
            b"GET /mcp?" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", id="just too long a query"
        ),
        pytest.param(b"A" * 10_000_000 + b" / HTTP/1.1\r\nHost: a\r\n\r\n", id="one verb"),
    ],
)
def test_a_huge_head_is_refused_without_being_kept(server: HttpServer, data: bytes) -> None:
    assert server.lives()
    before = server.memory("VmRSS")
    said = raw(server, data)
    assert status(said) in (400, 431, None)  # None: it was still writing when the connection was closed
    assert server.memory("VmRSS") - before < ROOM
    assert_unharmed(server, said)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(HEAD + b"X: " + b"a" * 600_000, id="one field"),
        pytest.param(HEAD + b"X-Much: aaaaaaaaaa\r\n" * 30_000, id="many fields"),
        pytest.param(b"GET /" + b"a" * 600_000, id="one path"),
    ],
)
def test_a_head_beyond_its_limit_is_answered_before_it_ends(server: HttpServer, data: bytes) -> None:
    with server.connect() as wire:
        wire.send(data)
        assert status(wire.read_rest()) == 431


def test_trailers_are_limited_like_a_head(server: HttpServer) -> None:
    before = server.memory("VmRSS")
    said = raw(
        server,
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + b"X: aaaaaaaaaa\r\n" * 1_000_000,
    )
    assert status(said) in (400, 431, None)
    assert server.memory("VmRSS") - before < ROOM
    assert_unharmed(server, said)


def test_a_chunk_extension_is_not_kept(server: HttpServer) -> None:
    before = server.memory("VmRSS")
    said = raw(
        server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"a" * 10_000_000 + b"\r\n{}\r\n0\r\n\r\n"
    )
    assert server.memory("VmRSS") - before < ROOM
    assert_unharmed(server, said)


def test_a_body_that_announces_too_much_is_refused_unread(hasty: HttpServer) -> None:
    said = raw(hasty, HEAD + b"Content-Length: 100001\r\n\r\n")
    assert status(said) == 413
    assert_unharmed(hasty, said)


def test_a_body_in_chunks_is_refused_where_it_becomes_too_long(hasty: HttpServer) -> None:
    before = hasty.memory("VmRSS")
    said = raw(
        hasty, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 300
    )
    assert status(said) in (413, None)
    assert hasty.memory("VmRSS") - before < ROOM
    assert_unharmed(hasty, said)


def test_a_body_of_the_longest_size_is_taken(hasty: HttpServer) -> None:
    padded = BODY + b" " * (100_000 - len(BODY))
    assert status(raw(hasty, with_body(padded))) == 200


def test_what_follows_a_body_that_was_refused_is_no_request(hasty: HttpServer) -> None:
    said = raw(hasty, HEAD + b"Content-Length: 200000\r\n\r\n" + CALL * 20)
    assert (status(said), said.count(b"HTTP/1.1 ")) == (413, 1)


def test_a_body_that_nobody_reads_is_not_kept(server: HttpServer) -> None:
    before = server.memory("VmRSS")
    said = raw(
        server, HEAD.replace(b"/mcp", b"/none") + b"Content-Length: 60000000\r\n\r\n" + b" " * 60_000_000
    )
    assert status(said) == 404
    assert server.memory("VmRSS") - before < ROOM
    assert_unharmed(server, said)


# Time.


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"POST /m", id="half a line"),
        pytest.param(HEAD, id="half a head"),
        pytest.param(HEAD + b"Content-Length: 100\r\n\r\n{", id="half a body"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n", id="half the chunks"),
        pytest.param(CALL + b"POST /m", id="half of a second request"),
    ],
)
def test_a_client_that_does_not_go_on_is_told_so(hasty: HttpServer, data: bytes) -> None:
    with hasty.connect() as wire:
        wire.send(data)
        if data.startswith(CALL):
            assert wire.read().status == 200
        assert status(wire.read_rest()) == 408


def drip(wire: Wire, data: bytes) -> bytes:
    """Send byte after byte, a few milliseconds apart, until the server hangs up."""
    wire.socket.settimeout(0.02)
    for number in range(len(data)):
        wire.send(data[number : number + 1])
        try:
            if said := wire.socket.recv(1000):
                return said
        except TimeoutError:
            continue
        except ConnectionResetError:
            break
    return b""


@pytest.mark.parametrize(
    "begin",
    [
        pytest.param(HEAD + b"X: ", id="head"),
        pytest.param(HEAD + b"Content-Length: 9000\r\n\r\n", id="body"),
        pytest.param(HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n \r\n2;", id="chunk extension"),
    ],
)
def test_dripping_does_not_buy_time(hasty: HttpServer, begin: bytes) -> None:
    with hasty.connect() as wire:
        wire.send(begin)
        assert status(drip(wire, b"a" * 100)) == 408
    assert hasty.lives()


# Content.


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=x", 415),
        ("application/jsonp", 415),
        ("text/plain, application/json", 415),
        ("", 415),
        (None, 415),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON", 200),
    ],
)
def test_only_json_is_taken(server: HttpServer, kind: str | None, expected: int) -> None:
    given = b"" if kind is None else f"Content-Type: {kind}\r\n".encode()
    assert (
        status(raw(server, with_body(BODY).replace(b"Content-Type: application/json\r\n", given))) == expected
    )


NO_MESSAGE = {
    "nothing": b"",
    "half": BODY[:-3],
    "two values": BODY + BODY,
    "invalid UTF-8": BODY.replace(b"hello", b"h\xff\xfe"),
    "overlong UTF-8": BODY.replace(b"hello", b"h\xc0\xaf"),
    "UTF-16": BODY.decode().encode("utf-16"),
    "a NUL": BODY.replace(b"hello", b"h\x00"),
    "not a number": BODY.replace(b'"hello"', b"NaN"),
    "infinity": BODY.replace(b'"hello"', b"-Infinity"),
    "deep arrays": b"[" * 1_000_000,
    "deep objects": b'{"a":' * 200_000,
    "deep arguments": BODY.replace(b'"hello"', b"[" * 100_000 + b"]" * 100_000),
    "a number": b"1",
    "null": b"null",
    "an empty array": b"[]",
    "no method": b'{"jsonrpc":"2.0","id":1}',
    "a wrong version": BODY.replace(b'"2.0"', b'"1.0"'),
    "an id that is null": BODY.replace(b'"id": 1', b'"id": null'),
    "an id that is an object": BODY.replace(b'"id": 1', b'"id": {}'),
    "an id that is true": BODY.replace(b'"id": 1', b'"id": true'),
    "an id that is a fraction": BODY.replace(b'"id": 1', b'"id": 1.5'),
    "params that are a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}',
}


@pytest.mark.parametrize("body", NO_MESSAGE.values(), ids=NO_MESSAGE)
def test_what_is_no_message_is_an_error_with_status_400(server: HttpServer, body: bytes) -> None:
    said = raw(server, with_body(body))
    assert status(said) == 400
    assert json.loads(said.partition(b"\r\n\r\n")[2])["error"]["code"] in (-32700, -32600, -32602)
    assert_unharmed(server, said)


def test_half_an_emoji_costs_that_character_and_not_the_answer(server: HttpServer) -> None:
    said = raw(server, with_body(BODY.replace(b"hello", b"a\\ud83d")))
    assert status(said) == 200
    assert json.loads(said.partition(b"\r\n\r\n")[2])["result"]["content"][0]["text"] == "a\ufffd"


@pytest.mark.parametrize(
    "id", [10**30, -(10**30), 2**53 + 1, 0, "", "x" * 10_000, "\n\r\0\x1b[31m", "data: x\n\n"]
)
def test_an_id_comes_back_as_it_was_sent(server: HttpServer, id: Any) -> None:
    message, fields = tool_call("echo", text="hello")
    answer = server.ask({**message, "id": id}, fields)
    if answer.status == 200:
        assert answer.json()["id"] == id
    else:
        assert answer.json()["error"]["code"] == -32600
    assert server.lives()


def test_of_two_members_with_one_name_the_last_counts(server: HttpServer) -> None:
    said = raw(server, with_body(BODY.replace(b'"hello"', b'"first", "text": "second"')))
    assert b"second" in said
    assert b"first" not in said


@pytest.mark.parametrize("value", ["bytes=0-", "\xff\xfe", "x" * 8000])
@pytest.mark.parametrize(
    "name", ["Range", "Mcp-Session-Id", "Last-Event-ID", "Accept-Encoding", "Cookie", "Expect"]
)
def test_fields_that_mean_nothing_to_a_stateless_call_change_nothing(
    server: HttpServer, name: str, value: str
) -> None:
    message, fields = tool_call("echo", text="hello")
    assert server.ask(message, [*fields, (name, value)]).status == 200


def test_a_failure_inside_a_tool_tells_nothing_about_the_inside(server: HttpServer) -> None:
    answer = server.ask(*tool_call("break_down"))
    assert b"secret" not in answer.body
    assert not [word for word in LEAKS if word in answer.body]
    server.hear("a secret at")  # the operator is told


# Requests in a row.


def test_requests_sent_in_a_row_are_answered_in_their_order(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(b"".join(http(*tool_call("echo", text=str(number))) for number in range(50)))
        texts = [wire.read().json()["result"]["content"][0]["text"] for _ in range(50)]
    assert texts == [str(number) for number in range(50)]


def test_a_refused_request_in_a_row_does_not_move_the_frames(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(CALL + with_body(b"{") + http(verb="PUT") + http(path="/none") + CALL)
        assert [wire.read().status for _ in range(5)] == [200, 400, 405, 404, 200]


@pytest.mark.parametrize("behind", [CALL, CALL * 30, b"POST /m", b"garbage\r\n\r\n"])
def test_a_listener_with_something_sent_behind_it_is_gone_when_its_client_is(
    server: HttpServer, behind: bytes
) -> None:
    with server.connect() as wire:
        wire.send(http(*listen()))
        wire.read_until(b"acknowledged")
        wire.send(behind)
    wait_until_nobody_listens(server)


def test_a_client_that_leaves_cancels_its_call(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(http(*tool_call("wait")) + CALL)
        server.hear("waiting")
    server.hear("wait cancelled")


def wait_until_nobody_listens(server: HttpServer) -> None:
    for _ in range(2000):
        if server.call("listeners") == "0":
            return
    pytest.fail("a listener stays after its client has gone")


def test_a_listener_is_gone_also_when_something_comes_behind_it_later(server: HttpServer) -> None:
    with server.connect() as wire:
        wire.send(http(*listen()))
        wire.read_until(b"acknowledged")
        # The server has begun to wait for the end of the connection by the time it has done this.
        for _ in range(100):
            server.lives()
        wire.send(CALL)
        server.lives()
        wire.send(CALL)
    wait_until_nobody_listens(server)


def test_requests_without_end_behind_a_stream_are_not_read_and_do_not_keep_it(hasty: HttpServer) -> None:
    before = hasty.memory("VmRSS")
    with hasty.connect() as wire:
        wire.send(http(*listen()))
        wire.read_until(b"acknowledged")
        wire.socket.settimeout(0.3)
        with pytest.raises((TimeoutError, ConnectionError)):
            wire.socket.sendall(CALL * 200_000)
    assert hasty.memory("VmRSS") - before < ROOM
    wait_until_nobody_listens(hasty)


# Mutations.

SEEDS = [
    CALL,
    http(*listen()),
    http(request(1, "server/discover"), mirrored("server/discover")),
    http(verb="GET", fields=[("Accept", BOTH)]),
    http(verb="OPTIONS", fields=[("Origin", "http://localhost")]),
    HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    http(verb="GET", path="/sse"),
    http({}, path="/messages?session_id=x"),
]
SPICES = [
    b"\r\n",
    b"\x00",
    b"\xff",
    b":",
    b" ",
    b"{",
    b"[" * 200,
    b"\r\n\r\n",
    b"Content-Length: 5\r\n",
    b"HTTP/1.1",
]


def mutate(dice: random.Random) -> bytes:
    """A request with a few mistakes in it."""
    data = bytearray(dice.choice(SEEDS))
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(data))
        match dice.randrange(5):
            case 0:
                data[at] = dice.randrange(256)
            case 1:
                del data[at : at + dice.randint(1, 20)]
            case 2:
                data[at:at] = dice.choice(SPICES)
            case 3:
                data[at:at] = data[at : at + dice.randint(1, 60)]
            case _:
                data = data[:at] + dice.choice(SEEDS)[at:]
        data = data or bytearray(b" ")
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_requests_with_mistakes_leave_nothing_behind(server: HttpServer, seed: int) -> None:
    assert server.lives()
    before, descriptors, said_before = server.memory("VmRSS"), server.descriptors(), len(server.complaints())
    dice = random.Random(seed)
    for _ in range(400):
        with server.connect() as wire:
            wire.send(mutate(dice))
            if dice.random() < 0.5:
                wire.socket.shutdown(1)
            if dice.random() < 0.2:
                wire.socket.settimeout(0.01)
                try:
                    said = wire.socket.recv(10_000)
                except (TimeoutError, ConnectionResetError):
                    continue
                assert not [word for word in LEAKS if word in said]
    wait_until_nobody_listens(server)
    assert server.complaints()[said_before:] == ""
    assert server.memory("VmRSS") - before < ROOM
    for _ in range(2000):
        if server.lives() and server.descriptors() <= descriptors:
            return
    pytest.fail("descriptors stay open")
