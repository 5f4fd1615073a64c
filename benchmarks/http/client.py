"""One client of one server: opens the conversation in either form, and builds every request beforehand."""

import re
from typing import Any

from ..messages import (
    HANDSHAKE,
    INITIALIZED,
    STATELESS,
    Revision,
    WrongAnswerError,
    call_echo,
    call_tool,
    check_opening,
    opening,
    request,
)
from .wire import HOST, Connection, Site, body_of

SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]+)\r\n", re.IGNORECASE)
EVENT_STREAM = re.compile(rb"\r\ncontent-type: *text/event-stream", re.IGNORECASE)


class Client:
    """A connection on which calls can be made: with a session, or in the stateless form."""

    def __init__(self, site: Site, revision: Revision) -> None:
        self._site = site
        self.connection: Connection = site.connect()
        self.revision: Revision = revision
        self._head = (
            f"POST /mcp HTTP/1.1\r\nHost: {HOST}:{site.port}\r\nContent-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
        ).encode()

    def open(self) -> None:
        """Agree on the revision; the session form also gets its session and says that it is ready."""
        method = "server/discover" if self.revision == STATELESS else "initialize"
        raw = self.connection.ask(
            self._post(opening(self.revision), method, stamped=self.revision == STATELESS)
        )
        check_opening(message(raw), self.revision)
        if self.revision == HANDSHAKE:
            if found := SESSION.search(raw):
                self._head += b"Mcp-Session-Id: %s\r\n" % found[1]
            raw = self.connection.ask(self._post(INITIALIZED, "notifications/initialized"))
            if not raw.startswith(b"HTTP/1.1 2"):
                raise WrongAnswerError(f"refused: {raw[:200].decode(errors='replace')}")

    def reconnect(self) -> None:
        """A new connection for the same conversation: servers hang up on one that was idle for seconds."""
        self.connection.close()
        self.connection = self._site.connect()

    def echo(self, number: int, arguments: dict[str, str]) -> bytes:
        """A call of the echo tool, as it goes over the wire."""
        return self._post(call_echo(number, arguments, self.revision), "tools/call", "echo")

    def touch(self, number: int) -> bytes:
        """A call that changes the note."""
        return self._post(call_tool(number, "touch", {}, self.revision), "tools/call", "touch")

    def listen(self, uri: str) -> bytes:
        """A request for a stream of what happens to one resource."""
        params: dict[str, Any] = {"notifications": {"resourceSubscriptions": [uri]}}
        return self._post(request(1, "subscriptions/listen", params, self.revision), "subscriptions/listen")

    def _post(self, body: bytes, method: str, name: str = "", *, stamped: bool = True) -> bytes:
        head = self._head
        if stamped:
            head += f"MCP-Protocol-Version: {self.revision}\r\n".encode()
        if self.revision == STATELESS:
            head += f"Mcp-Method: {method}\r\n".encode()
            head += f"Mcp-Name: {name}\r\n".encode() if name else b""
        return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def message(raw: bytes) -> bytes:
    """The JSON-RPC answer in a whole reply: its body, or the event of its stream that has data and an id."""
    body = body_of(raw)
    if not raw.startswith(b"HTTP/1.1 200 "):
        raise WrongAnswerError(
            f"refused: {raw[:40].decode(errors='replace')!r} {body[:200].decode(errors='replace')}"
        )
    if not EVENT_STREAM.search(raw):
        return body
    answers = [
        line[5:].strip() for line in body.splitlines() if line.startswith(b"data:") and b'"id"' in line
    ]
    if not answers:
        raise WrongAnswerError("a stream without an answer")
    return answers[-1]
