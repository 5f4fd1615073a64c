"""Server-sent events, both directions: bytes of one event out, chunks of a stream in.

Knows nothing of JSON or of HTTP. What is written is compact; what is read may be as loose as the format
allows (D-4), within a bound on the size of one event.
"""

from typing import NamedTuple

from ..errors import ParseError
from .lines import DEFAULT_LIMIT

KEEP_ALIVE = b": keep-alive\n\n"
"""A comment: it keeps the connection busy and every reader ignores it (N-8)."""

_BOM = b"\xef\xbb\xbf"
_MAX_RETRY_DIGITS = 12


class Event(NamedTuple):
    """One event. `id` and `retry` are what this event itself said; a priming event says only that (H-35)."""

    data: bytes
    event: str = "message"
    id: str | None = None
    retry: int | None = None


def encode_event(
    data: bytes, *, id: str | None = None, retry: int | None = None, event: str | None = None
) -> bytes:
    """The bytes of one event; `data` is one line of JSON, or empty."""
    if id is None and retry is None and event is None:
        return b"data: " + data + b"\n\n"
    head = "" if event is None else f"event: {event}\n"
    if id is not None:
        head += f"id: {id}\n"
    if retry is not None:
        head += f"retry: {retry}\n"
    return b"%bdata: %b\n\n" % (head.encode(), data)


class Events:
    """Cuts a stream of bytes into events. What the stream ends in the middle of is no event."""

    __slots__ = (
        "_after_cr",
        "_data",
        "_event",
        "_held",
        "_id",
        "_limit",
        "_retry",
        "_size",
        "_started",
        "last_id",
    )

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._after_cr = False
        self._started = False
        self.last_id: str | None = None
        """The id to resume after: that of the last whole event that had one (H-33)."""
        self._clear()

    def _clear(self) -> None:
        self._data: list[bytes] = []
        self._size = 0
        self._event = ""
        self._id: str | None = None
        self._retry: int | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """Take the next bytes; give back the events they complete. ParseError when one is too large."""
        *lines, rest = self._unify(chunk).split(b"\n")
        found: list[Event] = []
        for line in lines:
            if self._held:
                self._hold(line)
                line = bytes(self._held)
                self._held = bytearray()
            self._take(line, found)
        self._hold(rest)
        return found

    def _unify(self, chunk: bytes) -> bytes:
        """The chunk with LF as its only line end; a CRLF may lie across two chunks."""
        if not chunk:
            return chunk
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        self._after_cr = chunk.endswith(b"\r")
        return chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in chunk else chunk

    def _hold(self, piece: bytes) -> None:
        self._bound(self._size + len(self._held) + len(piece))
        self._held += piece

    def _bound(self, size: int) -> None:
        if size > self._limit:
            raise ParseError(f"Parse error: an event is longer than {self._limit} bytes")

    def _take(self, line: bytes, found: list[Event]) -> None:
        if not self._started:
            line = line.removeprefix(_BOM)
            self._started = True
        if not line:
            self._finish(found)
            return
        name, _, value = line.partition(b":")  # a comment is a line whose name is empty
        value = value.removeprefix(b" ")
        match name:
            case b"data":
                self._size += len(value) + 1
                self._bound(self._size)
                self._data.append(value)
            case b"event":
                self._event = value.decode("utf-8", "replace")
            case b"id" if b"\0" not in value:
                self._id = value.decode("utf-8", "replace")
            case b"retry" if value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
                self._retry = int(value)
            case _:
                pass

    def _finish(self, found: list[Event]) -> None:
        if self._id is not None:
            self.last_id = self._id
        if self._data or self._id is not None or self._retry is not None:
            found.append(Event(b"\n".join(self._data), self._event or "message", self._id, self._retry))
        self._clear()
