"""One server process and raw sockets to it. Knows where an HTTP reply ends, nothing of what it says."""

import re
import socket
import struct
import time

from ..child import ANSWER_LIMIT, Child, ServerGoneError

HOST = "127.0.0.1"
READ_SIZE = 65536
LOOK_AGAIN = 0.002
ADDRESS = re.compile(rf"http://{re.escape(HOST)}:(\d+)")
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)
CHUNKED = re.compile(rb"\r\ntransfer-encoding: *chunked\r\n", re.IGNORECASE)


class Connection:
    """One keep-alive connection with at most one request on its way."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection((HOST, port), ANSWER_LIMIT)
        # The kernel keeps the time: with a timeout of Python's own, each read would poll first.
        self.socket.settimeout(None)
        limit = struct.pack("ll", int(ANSWER_LIMIT), 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._partial = b""

    def send(self, request: bytes) -> None:
        try:
            self.socket.sendall(request)
        except ConnectionError:
            raise ServerGoneError("closed the connection") from None

    def read(self) -> bytes:
        """What has arrived, waiting for the first of it."""
        try:
            chunk = self.socket.recv(READ_SIZE)
        except BlockingIOError:
            raise ServerGoneError("no answer in time") from None
        except ConnectionError:
            chunk = b""
        if not chunk:
            raise ServerGoneError("closed the connection")
        return chunk

    def receive(self) -> bytes | None:
        """Read once; the whole reply if that was the last of it."""
        raw = self._partial + self.read()
        if not is_complete(raw):
            self._partial = raw
            return None
        self._partial = b""
        return raw

    def ask(self, request: bytes) -> bytes:
        """Send one request and wait for the whole reply."""
        self.send(request)
        while (raw := self.receive()) is None:
            pass
        return raw

    def close(self) -> None:
        self.socket.close()


class Site(Child):
    """A server that says on stderr at which port it listens. Its connections are closed with it."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(command, pipes=False)
        self._connections: list[Connection] = []
        self._port: int | None = None

    @property
    def port(self) -> int:
        """The port, once the process has said it."""
        if self._port is None:
            self._port = self._find_port()
        return self._port

    def connect(self) -> Connection:
        try:
            connection = Connection(self.port)
        except OSError as error:
            raise ServerGoneError(f"cannot be connected to: {error}") from None
        self._connections.append(connection)
        return connection

    def close(self) -> int:
        self.hang_up()
        return super().close()

    def hang_up(self) -> None:
        """Close every connection; the process goes on."""
        for connection in self._connections:
            connection.close()  # some were closed before; that does no harm
        self._connections.clear()

    def _find_port(self) -> int:
        deadline = time.monotonic() + ANSWER_LIMIT
        while time.monotonic() < deadline:
            if found := ADDRESS.search(self._said()):
                return int(found[1])
            if self._child.poll() is not None:
                raise ServerGoneError(self._last_words())
            time.sleep(LOOK_AGAIN)
        raise ServerGoneError("never said at which port it listens")


def is_complete(raw: bytes) -> bool:
    """Whether the bytes are one whole reply; nothing can follow it, because nothing else was asked."""
    end = raw.find(b"\r\n\r\n") + 4
    if end < 4:
        return False
    if found := LENGTH.search(raw, 0, end):
        return len(raw) >= end + int(found[1])
    if CHUNKED.search(raw, 0, end):
        return unchunk(raw, end) is not None
    return True


def body_of(raw: bytes) -> bytes:
    """The body of a whole reply."""
    end = raw.find(b"\r\n\r\n") + 4
    if CHUNKED.search(raw, 0, end):
        return unchunk(raw, end) or b""
    return raw[end:]


def unchunk(raw: bytes, at: int) -> bytes | None:
    """The chunks from here on, put together; None before the last one is there."""
    parts: list[bytes] = []
    while (line_end := raw.find(b"\r\n", at)) >= 0:
        size = int(raw[at:line_end].partition(b";")[0], 16)
        at = line_end + 2
        if not size:
            return b"".join(parts) if raw.startswith(b"\r\n", at) else None
        parts.append(raw[at : at + size])
        at += size + 2
    return None
