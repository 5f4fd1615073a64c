"""The access log: one JSON object a line on standard error, and nothing in it that is nobody's business."""

import json
import signal
from collections.abc import Callable
from typing import Any

import pytest

from .process import HttpServer, open_session, ping, tool_call

TOKEN = "a-token-of-some-length"
BEARER = ("Authorization", f"Bearer {TOKEN}")
FIELDS = ["time", "client", "verb", "path", "status", "ms", "stream"]


def entries(server: HttpServer, requests: Callable[[HttpServer], object]) -> list[dict[str, Any]]:
    """What the log holds when these requests were answered and the server has ended."""
    requests(server)
    server.kill(signal.SIGTERM)
    server.wait()
    return [json.loads(line) for line in server.complaints().splitlines() if line.startswith("{")]


def test_a_request_leaves_one_line_with_its_method_status_and_time() -> None:
    with HttpServer("--log-level", "info") as server:
        (entry,) = entries(server, lambda server: server.call("echo", text="hello"))
    assert list(entry) == [*FIELDS, "rpc"]
    assert (entry["verb"], entry["path"], entry["status"], entry["rpc"]) == (
        "POST",
        "/mcp",
        200,
        "tools/call",
    )


def test_a_refusal_is_logged_with_its_reason() -> None:
    with HttpServer("--log-level", "info") as server:
        (entry,) = entries(server, lambda server: server.ask(ping()))
    assert entry["status"] == 400
    assert "initialize" in entry["error"]


def test_no_token_no_query_and_no_session_id_is_logged() -> None:
    secrets: list[str] = [TOKEN, "secret=1"]

    def requests(server: HttpServer) -> None:
        session = open_session(server, BEARER)
        secrets.append(dict(session)["Mcp-Session-Id"])
        server.ask(ping(), [*session, BEARER])
        server.ask(*tool_call("echo", BEARER, text="hello"), path="/mcp?secret=1")
        server.ask(*tool_call("echo", ("Authorization", "Bearer wrong-" + TOKEN), text="hello"))

    with HttpServer("--log-level", "debug", env={"MCP_TOKEN": TOKEN}) as server:
        assert len(entries(server, requests)) >= 4
        said = server.complaints()
    assert [secret for secret in secrets if secret in said] == []


def test_what_a_client_writes_into_a_path_does_not_drive_a_terminal() -> None:
    with HttpServer("--log-level", "info") as server:
        (entry,) = entries(server, lambda server: server.ask(None, verb="GET", path="/%1b[2J%0a{}"))
        assert "\x1b" not in server.complaints()
    assert entry["path"] == "/\x1b[2J\n{}"


@pytest.mark.parametrize("level", ["warning", "error"])
def test_by_default_requests_leave_nothing(level: str) -> None:
    with HttpServer("--log-level", level) as server:
        assert entries(server, lambda server: server.ask(ping())) == []


def test_a_line_is_short_whatever_a_client_writes() -> None:
    def requests(server: HttpServer) -> None:
        method = "m" * 30_000
        server.ask({"jsonrpc": "2.0", "id": 1, "method": method})
        server.ask({"jsonrpc": "2.0", "id": 1, "method": "ping"}, [("MCP-Protocol-Version", method[:9000])])
        server.ask(None, verb="GET", path=f"/{method[:9000]}")

    with HttpServer("--log-level", "info") as server:
        found = entries(server, requests)
    assert (len(found), max(len(json.dumps(entry)) for entry in found) < 1000) == (3, True)
