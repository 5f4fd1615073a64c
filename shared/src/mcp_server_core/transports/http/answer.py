"""The answer to one HTTP request: a JSON body, no body, or a stream of events that is begun as late as possible."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeAlias

from ...protocol.sse import KEEP_ALIVE, encode_event

Field: TypeAlias = tuple[bytes, bytes]
Send: TypeAlias = Callable[[dict[str, Any]], Awaitable[None]]
Receive: TypeAlias = Callable[[], Awaitable[dict[str, Any]]]
Step: TypeAlias = Coroutine[Any, Any, Any] | None
"""What is to be done next for a request. A stream may stay open for days: nothing of how it was let in stays with it."""

_JSON = (b"content-type", b"application/json")
_EVENTS: list[Field] = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),  # N-7: a proxy passes events on as they come
]


class Answer:
    """Writes to one client. `fields` are added to whatever kind of answer it becomes."""

    __slots__ = ("_ended", "_lock", "_send", "fields", "held", "opening", "said", "started", "status")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock: asyncio.Lock | None = None
        self._ended = False
        self.fields: list[Field] = []
        self.opening = b""  # what a stream of events begins with
        self.started = False  # as a stream; a plain answer is written in one go
        self.status = 0
        self.held = 0  # bytes of the request's body that take up room
        self.said: dict[str, str] = {}  # for the access log

    async def json(self, status: int, body: bytes, fields: Iterable[Field] = ()) -> None:
        """Answer with a JSON value; as the last event, if a stream was begun meanwhile to show that we are alive."""
        if self._lock is None:
            await self._whole(status, body, [_JSON, *fields])
            return
        async with self._lock:
            if self.started:
                await self._write(encode_event(body))
                await self.end()
            else:
                await self._whole(status, body, [_JSON, *fields])

    async def empty(self, status: int, fields: Iterable[Field] = ()) -> None:
        """Answer with a status alone."""
        await self._whole(status, b"", list(fields))

    async def _whole(self, status: int, body: bytes, fields: list[Field]) -> None:
        self.status = status
        fields.append((b"content-length", str(len(body)).encode()))
        fields += self.fields
        await self._send({"type": "http.response.start", "status": status, "headers": fields})
        await self._send({"type": "http.response.body", "body": body})

    async def start(self) -> None:
        """Begin a stream of events, if that was not done before."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:
            await self._start()

    async def _start(self) -> None:
        if self.started or self.status:
            return
        await self._send({"type": "http.response.start", "status": 200, "headers": [*_EVENTS, *self.fields]})
        self.started, self.status = True, 200
        if self.opening:
            await self._write(self.opening)

    async def event(self, data: bytes, *, id: str | None = None, retry: int | None = None) -> None:
        """Send one event; begins the stream. Waits while the client is slow to read."""
        await self.raw(encode_event(data, id=id, retry=retry))

    async def raw(self, chunk: bytes) -> None:
        """Send bytes of a stream of events."""
        if self._lock is None:
            self._lock = asyncio.Lock()
        async with self._lock:  # several tasks of one handler may speak at once
            await self._start()
            await self._write(chunk)
        # Writing to a client that is gone does not wait: others have their turn, and the work can be cancelled.
        await asyncio.sleep(0)

    @property
    def busy(self) -> bool:
        """Whether something is being sent on the stream right now."""
        return self._lock is not None and self._lock.locked()

    async def ping(self) -> None:
        """Show that the stream is alive, unless it has ended since somebody decided to."""
        if not self._ended:
            await self.raw(KEEP_ALIVE)

    async def end(self) -> None:
        """End the stream."""
        self._ended = True
        await self._send({"type": "http.response.body", "body": b""})

    async def _write(self, chunk: bytes) -> None:
        await self._send({"type": "http.response.body", "body": chunk, "more_body": True})
