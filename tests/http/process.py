"""A real server over HTTP, and raw connections to it: what a test sends is what goes over the wire."""

import contextlib
import json
import os
import re
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from ..smoke.process import DEADLINE, META, Process, request

HOST = Path(__file__).parent / "servers" / "host.py"
STATELESS = "2026-07-28"
SESSION_FORM = "2025-11-25"
BOTH = "application/json, text/event-stream"
Fields = Iterable[tuple[str, str]]


class Response(NamedTuple):
    """One answer: field names are in lower case, the body is without its framing."""

    status: int
    fields: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as a JSON value."""
        return json.loads(self.body)

    def events(self) -> list[dict[str, Any]]:
        """The messages of a body of events."""
        lines = self.body.decode().split("\n")
        return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


class Wire:
    """A TCP connection. Leaving it hangs up."""

    def __init__(self, port: int, host: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection((host, port), DEADLINE)
        self._held = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def send(self, data: bytes) -> Self:
        """Write bytes; a server that has hung up meanwhile is no failure, its answer will say why."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self.socket.sendall(data)
        return self

    def read_until(self, mark: bytes) -> bytes:
        """What comes, up to and with a mark; an end of the connection before it fails the test."""
        while mark not in self._held:
            chunk = self.socket.recv(65536)
            assert chunk, f"the connection ended after {self._held[:300]!r}"
            self._held += chunk
        found, _, self._held = self._held.partition(mark)
        return found + mark

    def _read_exactly(self, size: int) -> bytes:
        parts, missing = [self._held[:size]], size - len(self._held)
        self._held = self._held[size:]
        while missing > 0:
            chunk = self.socket.recv(min(missing, 65536))
            assert chunk, "the connection ended in the middle of a body"
            parts.append(chunk)
            missing -= len(chunk)
        return b"".join(parts)

    def read_head(self) -> Response:
        """A status line and fields, without the body."""
        status, *lines = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")[:-2]
        assert status.startswith("HTTP/1.1 "), status
        pairs = (line.partition(": ") for line in lines)
        return Response(int(status.split()[1]), {name.lower(): value for name, _, value in pairs}, b"")

    def read(self) -> Response:
        """A whole answer."""
        head = self.read_head()
        if head.fields.get("transfer-encoding") == "chunked":
            parts: list[bytes] = []
            while size := int(self.read_until(b"\r\n"), 16):
                parts.append(self._read_exactly(size + 2)[:-2])
            self.read_until(b"\r\n")
            return head._replace(body=b"".join(parts))
        return head._replace(body=self._read_exactly(int(head.fields.get("content-length", "0"))))

    def read_event(self) -> dict[str, Any]:
        """The next message of a stream of events."""
        while True:
            line = self.read_until(b"\n")
            if line.startswith(b"data: {"):
                return json.loads(line[6:])

    def read_rest(self) -> bytes:
        """Everything until the server hangs up."""
        rest = [self._held]
        try:
            while chunk := self.socket.recv(65536):
                rest.append(chunk)
        except ConnectionResetError:
            pass  # it hung up while we still had something to say
        return b"".join(rest)


class HttpServer(Process):
    """A server process that has said where it listens."""

    def __init__(
        self, *args: str, settings: Mapping[str, Any] | None = None, env: Mapping[str, str] | None = None
    ) -> None:
        small = [] if settings is None else ["--settings", json.dumps(settings)]
        self.port = _port_of(args)
        argv = [sys.executable, str(HOST), "--transport", "http", "--port", "0", *args, *small]
        super().__init__(argv, env=env)
        try:
            said = self.hear("serves MCP at ")
            while (found := re.search(r"serves MCP at \S+\n", said)) is None:
                said = self.hear("\n")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self.url = found[0].split()[-1]
        self.port = self.port or int(self.url.rpartition(":")[2].partition("/")[0])

    def connect(self) -> Wire:
        """A new connection."""
        return Wire(self.port)

    def ask(self, *args: Any, **given: Any) -> Response:  # type: ignore[override]
        """One request on a connection of its own."""
        with self.connect() as wire:
            return wire.send(http(*args, **given)).read()

    def call(self, tool: str, *fields: tuple[str, str], **arguments: Any) -> str:
        """Call a tool; the text of its answer."""
        answer = self.ask(*tool_call(tool, *fields, **arguments))
        assert answer.status == 200, answer
        result = answer.json()["result"]
        assert not result.get("isError"), result
        return result["content"][0]["text"]

    def lives(self) -> bool:
        """Whether a normal call is still answered, and nothing was said about what came before."""
        return self.call("echo", text="still there") == "still there"

    def descriptors(self) -> int:
        """How many descriptors are open."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))  # noqa: PTH208 - names alone


def _port_of(args: tuple[str, ...]) -> int:
    """The port that was asked for; a server with a public URL does not say on which one it listens."""
    return int(args[args.index("--port") + 1]) if "--port" in args else 0


def http(
    message: Any = None,
    fields: Fields = (),
    *,
    verb: str = "POST",
    path: str = "/mcp",
    host: str | None = "127.0.0.1",
) -> bytes:
    """The bytes of one request. A message makes it a JSON body."""
    lines = [f"{verb} {path} HTTP/1.1"]
    if host is not None:
        lines.append(f"Host: {host}")
    body = b"" if message is None else json.dumps(message).encode()
    if message is not None:
        lines += ["Content-Type: application/json", f"Accept: {BOTH}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in fields]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def mirrored(method: str, name: str | None = None) -> list[tuple[str, str]]:
    """The header fields that say again what a stateless body says."""
    fields = [("MCP-Protocol-Version", STATELESS), ("Mcp-Method", method)]
    return fields if name is None else [*fields, ("Mcp-Name", name)]


def tool_call(
    tool: str, *fields: tuple[str, str], **arguments: Any
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """A stateless tool call: its message and its fields."""
    message = request(1, "tools/call", name=tool, arguments=arguments)
    return message, [*mirrored("tools/call", tool), *fields]


def listen() -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """A stateless request for a listen stream."""
    wanted = {"resourceSubscriptions": ["fixed:///one"]}
    return request("l", "subscriptions/listen", notifications=wanted), mirrored("subscriptions/listen")


def with_log_level(message: dict[str, Any], level: str) -> dict[str, Any]:
    """The same request, asking for log messages."""
    meta = {**META, "io.modelcontextprotocol/logLevel": level}
    return {**message, "params": {**message["params"], "_meta": meta}}


def with_capabilities(message: dict[str, Any], **capabilities: Any) -> dict[str, Any]:
    """The same request of a client that can do more."""
    meta = {**META, "io.modelcontextprotocol/clientCapabilities": capabilities}
    return {**message, "params": {**message["params"], "_meta": meta}}


def initialize(**capabilities: Any) -> dict[str, Any]:
    """What opens a session."""
    client = {"name": "test", "version": "1"}
    params = {"protocolVersion": SESSION_FORM, "capabilities": capabilities, "clientInfo": client}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


def open_session(server: HttpServer, *fields: tuple[str, str]) -> list[tuple[str, str]]:
    """Open a session; the fields that name it."""
    opened = server.ask(initialize(), fields)
    assert opened.status == 200, opened
    named = [("Mcp-Session-Id", opened.fields["mcp-session-id"]), ("MCP-Protocol-Version", SESSION_FORM)]
    done = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert server.ask(done, [*named, *fields]).status == 202
    return named


def ping() -> dict[str, Any]:
    """The smallest request of a session."""
    return {"jsonrpc": "2.0", "id": 1, "method": "ping"}
