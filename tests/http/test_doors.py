"""Who may come in from where: names that can be rebound, pages of strangers, and other machines."""

import sys
from collections.abc import Iterator

import pytest

from ..smoke.process import Process
from .process import HOST, HttpServer, Response, http, tool_call

PAGE = "https://app.example.com"
PREFLIGHT = [
    ("Access-Control-Request-Method", "POST"),
    ("Access-Control-Request-Headers", "mcp-param-region"),
]


@pytest.fixture(scope="module")
def named() -> Iterator[HttpServer]:
    """A server that is known by another name, and to two pages."""
    args = ("--public-url", "https://mcp.example.com/mcp", "--allow-origin", PAGE)
    with HttpServer(*args, "--allow-origin", "http://localhost:3000", settings={}) as process:
        yield process


@pytest.fixture(scope="module")
def anywhere() -> Iterator[HttpServer]:
    """A server that listens on every address; the tests use only the one of this machine."""
    with HttpServer("--host", "0.0.0.0", "--insecure") as process:
        yield process


def ask(server: HttpServer, *, host: str | None = "127.0.0.1", origin: str | None = None) -> Response:
    message, fields = tool_call("echo", text="hello")
    origins = [] if origin is None else [("Origin", origin)]
    return server.ask(message, [*fields, *origins], host=host)


def cors_of(answer: Response) -> dict[str, str]:
    return {name: value for name, value in answer.fields.items() if name.startswith("access-control-")}


# Host.


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:1", "localhost", "LOCALHOST:8000", "localhost:", "[::1]", "[::1]:80"]
)
def test_the_names_of_this_machine_are_served(server: HttpServer, host: str) -> None:
    # A colon without a port is allowed by RFC 3986; it changes nothing.
    assert ask(server, host=host).status in ({200, 403} if host.endswith(":") else {200})


@pytest.mark.parametrize(
    "host",
    [
        "evil.com",
        "localhost.evil.com",
        "127.0.0.1.nip.io",
        "127.0.0.1.evil.com:80",
        "evil.com:127.0.0.1",
        "localhost@evil.com",
        "evil.com@localhost",
        "localhost:80@evil.com",
        "localhost.",
        "127.0.0.1.",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "[::1",
        "[::1]evil.com",
        "[::1]:80:90",
        "::1",
        "localhost:8000:9000",
        "localhost:port",
        "localhost:\u00b2",
        "localhost/",
        "localhost evil.com",
        "localhost, evil.com",
        "",
        "192.168.1.1",
        "mcp.example.com",
        None,
    ],
)
def test_any_other_name_is_refused(server: HttpServer, host: str | None) -> None:
    assert ask(server, host=host).status in (400, 403)


@pytest.mark.parametrize("second", ["127.0.0.1", "evil.com"])
@pytest.mark.parametrize("first", ["127.0.0.1", "evil.com"])
def test_two_names_are_refused(server: HttpServer, first: str, second: str) -> None:
    message, fields = tool_call("echo", text="hello")
    assert server.ask(message, [("Host", second), *fields], host=first).status in (400, 403)


def test_a_name_stays_refused_after_many_others(server: HttpServer) -> None:
    statuses = {ask(server, host=f"{number}.evil.com").status for number in range(300)}
    assert (statuses, ask(server, host="127.0.0.1").status) == ({403}, 200)


@pytest.mark.parametrize(
    "path", ["/mcp", "/sse", "/messages", "/none", "/.well-known/oauth-protected-resource"]
)
def test_a_rebound_page_sees_nothing_but_403(server: HttpServer, path: str) -> None:
    answer = server.ask(None, verb="GET", path=path, host="evil.com")
    assert (answer.status, answer.body, cors_of(answer)) == (403, b"", {})


def test_the_health_of_the_server_is_told_under_any_name(server: HttpServer) -> None:
    answer = server.ask(None, verb="GET", path="/health", host="10.1.2.3:8000")
    assert (answer.status, answer.json(), cors_of(answer)) == (200, {"status": "ok"}, {})


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("mcp.example.com", 200),
        ("MCP.example.com:443", 200),
        ("127.0.0.1", 200),
        ("example.com", 403),
        ("x.mcp.example.com", 403),
        ("mcp.example.com.evil.com", 403),
    ],
)
def test_a_public_url_adds_its_name(named: HttpServer, host: str, expected: int) -> None:
    assert ask(named, host=host).status == expected


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", 200),
        ("192.168.1.7:8000", 200),
        ("[fe80::1]", 200),
        ("localhost", 200),
        ("evil.com", 403),
    ],
)
def test_a_server_for_other_machines_takes_addresses_but_no_names(
    anywhere: HttpServer, host: str, expected: int
) -> None:
    assert ask(anywhere, host=host).status == expected


# Origin.


@pytest.mark.parametrize(
    "origin",
    [
        "http://localhost",
        "http://LOCALHOST:3000",
        "https://127.0.0.1:8000",
        "http://[::1]:5173",
        "http://127.0.0.1",
    ],
)
def test_pages_of_this_machine_may_call(server: HttpServer, origin: str) -> None:
    assert ask(server, origin=origin).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.com",
        "http://localhost.evil.com",
        "http://127.0.0.1.nip.io",
        "http://evil.com:80#127.0.0.1",
        "http://evil.com/127.0.0.1",
        "http://127.0.0.1@evil.com",
        "http://evil.com@127.0.0.1",
        "http://localhost.",
        "file://",
        "file://localhost",
        "chrome-extension://localhost",
        "localhost",
        "http:localhost",
        "http://localhost http://evil.com",
        "http://[::1",
        PAGE,
    ],
)
def test_pages_of_others_are_refused(server: HttpServer, origin: str) -> None:
    answer = ask(server, origin=origin)
    assert (answer.status, answer.body, cors_of(answer)) == (403, b"", {})


def test_two_origins_are_refused(server: HttpServer) -> None:
    message, fields = tool_call("echo", text="hello")
    twice = [("Origin", "http://localhost"), ("Origin", "http://localhost")]
    assert server.ask(message, [*fields, *twice]).status == 403


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://127.0.0.1:8000", 200),
        ("http://192.168.1.7:8000", 403),
        ("http://127.0.0.1", 403),
        ("http://localhost", 403),
        ("http://evil.com", 403),
    ],
)
def test_a_server_for_other_machines_takes_only_its_own_origin(
    anywhere: HttpServer, origin: str, expected: int
) -> None:
    assert ask(anywhere, host="127.0.0.1:8000", origin=origin).status == expected


# CORS.


def test_without_allowed_origins_there_is_no_cors_at_all(server: HttpServer) -> None:
    answer = ask(server, origin="http://localhost")
    preflight = server.ask(None, [("Origin", "http://localhost"), *PREFLIGHT], verb="OPTIONS")
    assert (preflight.status, cors_of(answer), cors_of(preflight)) == (204, {}, {})


def test_the_page_of_an_allowed_origin_may_read_the_answer(named: HttpServer) -> None:
    answer = ask(named, origin=PAGE)
    assert answer.status == 200
    assert answer.fields["vary"] == "Origin"
    assert cors_of(answer) == {
        "access-control-allow-origin": PAGE,
        "access-control-expose-headers": "Mcp-Session-Id, WWW-Authenticate",
    }


@pytest.mark.parametrize(
    ("message", "verb", "expected"),
    [
        ({}, "POST", 400),
        (None, "POST", 415),
        (None, "PUT", 405),
        (None, "GET", 406),
        ({"jsonrpc": "2.0", "method": "notifications/x"}, "POST", 202),
    ],
)
def test_errors_may_be_read_too(named: HttpServer, message: object, verb: str, expected: int) -> None:
    fields = [("Origin", PAGE), *([] if message is not None else [("Accept", "image/png")])]
    answer = named.ask(message, fields, verb=verb)
    assert (answer.status, answer.fields.get("access-control-allow-origin")) == (expected, PAGE)


def test_a_browser_that_asks_first_is_told_what_it_may_send(named: HttpServer) -> None:
    answer = named.ask(None, [("Origin", PAGE), *PREFLIGHT], verb="OPTIONS")
    fields = cors_of(answer)
    allowed = {name.strip().lower() for name in fields["access-control-allow-headers"].split(",")}
    assert answer.status == 204
    assert fields["access-control-allow-origin"] == PAGE
    assert "access-control-allow-credentials" not in fields
    assert {"POST", "GET", "DELETE"} == set(fields["access-control-allow-methods"].split(", "))
    assert {"authorization", "content-type", "mcp-method", "mcp-session-id", "mcp-param-region"} <= allowed


def test_what_a_browser_asks_for_is_not_repeated_blindly(named: HttpServer) -> None:
    asked = ("Access-Control-Request-Headers", "mcp-param-a\tb, mcp-param-<x>, x-other, mcp-param-ok")
    answer = named.ask(None, [("Origin", PAGE), asked], verb="OPTIONS")
    allowed = answer.fields["access-control-allow-headers"]
    assert [name for name in ("<x>", "\t", "x-other") if name in allowed] == []
    assert "mcp-param-ok" in allowed


@pytest.mark.parametrize(
    "origin", ["https://app.example.com.evil.com", "http://app.example.com", f"{PAGE}:8443", "null"]
)
def test_an_origin_that_is_like_an_allowed_one_is_refused(named: HttpServer, origin: str) -> None:
    preflight = named.ask(None, [("Origin", origin), *PREFLIGHT], verb="OPTIONS")
    assert [(answer.status, cors_of(answer)) for answer in (ask(named, origin=origin), preflight)] == [
        (403, {})
    ] * 2


# The command line.


def refused(*args: str) -> tuple[int, str]:
    """Start a server that will not start: its exit code, and what it says."""
    with Process([sys.executable, str(HOST), "--transport", "http", "--port", "0", *args]) as process:
        return process.wait(), process.complaints()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])
def test_other_machines_are_not_let_in_without_a_token(host: str) -> None:
    code, said = refused("--host", host)
    assert code == 1
    assert said.count("\n") == 1
    assert all(word in said for word in (host, "--token-file", "--oauth-issuer", "--insecure"))


@pytest.mark.parametrize(
    ("args", "word"),
    [
        (("--host", "192.0.2.1", "--insecure"), "192.0.2.1"),
        (("--host", "no.such.name.invalid", "--insecure"), "no.such.name.invalid"),
        (("--allow-origin", "*"), "--allow-origin"),
        (("--allow-origin", "app.example.com"), "--allow-origin"),
        (("--public-url", "ftp://x"), "--public-url"),
        (("--public-url", "https://[x"), "--public-url"),
        (("--path", "/health"), "--path"),
        (("--path", "/"), "--path"),
        (("--token-file", "/does/not/exist"), "/does/not/exist"),
        (("--oauth-issuer", "https://issuer.example.com"), "--public-url"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_in_one_sentence(args: tuple[str, ...], word: str) -> None:
    code, said = refused(*args)
    assert (code, said.count("\n"), word in said) == (1, 1, True), said


def test_two_servers_cannot_have_one_port(server: HttpServer) -> None:
    code, said = refused("--port", str(server.port))
    assert (code, said.count("\n"), str(server.port) in said) == (1, 1, True), said
    assert server.lives()


def test_a_server_serves_under_the_path_it_was_given_with_a_slash_behind_it_or_not() -> None:
    with HttpServer("--path", "/deep/mcp/") as process:
        message, fields = tool_call("echo", text="hello")
        with process.connect() as wire:
            for path, expected in (("/mcp", 404), ("/deep/mcp", 200), ("/deep/mcp/", 200)):
                wire.send(http(message, fields, path=path))
                assert wire.read().status == expected
