"""One stream of a session: a bounded log of messages, and at most one client's connection that reads it.

The log is what makes a stream outlive its connection: whoever comes back with the id of the last event it saw gets
the rest (H-32 to H-41). A stream never shows what belongs to another one.
"""

import asyncio
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .answer import Answer

KEPT = 256 * 1024  # bytes of a stream that stay for a client that comes back
KEPT_EVENTS = 256


class Stream:
    """A log with positions: event number `n` is what a client has seen when it names the id of `n`."""

    __slots__ = (
        "_changed",
        "_events",
        "_first",
        "_room",
        "_size",
        "ended",
        "number",
        "read",
        "reader",
        "release_ms",
        "seen",
        "takes_events",
    )

    def __init__(self, number: int, *, takes_events: bool = True) -> None:
        self.number = number
        self.takes_events = takes_events  # whether its client accepts more than one JSON answer
        self.ended = False
        self.read = 0  # how far it was ever read
        self.reader: Reader | None = None
        self.seen = False  # a connection that is gone has shown an event id
        self.release_ms: int | None = (
            None  # the connection is to be given up; the client comes back after this
        )
        self._events: deque[bytes] = deque()
        self._first = 0  # position before the oldest event that is kept
        self._size = 0
        self._changed: asyncio.Future[None] | None = None
        self._room: asyncio.Event | None = None

    @property
    def end(self) -> int:
        """The position after the last event."""
        return self._first + len(self._events)

    def holds(self, position: int) -> bool:
        """Whether everything after a position is still there."""
        return self._first <= position <= self.end

    def after(self, position: int) -> bytes | None:
        """The event after a position, if there is one."""
        index = position - self._first
        return self._events[index] if 0 <= index < len(self._events) else None

    async def put(self, data: bytes, *, keep: bool) -> None:
        """Add an event. Waits while a reader is slow; without one, what need not be kept is left out when full."""
        self._trim()
        while self._is_full() and self.reader is not None and not self.ended:
            if self._room is None:
                self._room = asyncio.Event()
            await self._room.wait()
            self._trim()
        if self.ended or (self._is_full() and not keep):
            return
        self._append(data)

    def finish(self, data: bytes | None) -> None:
        """Add the last event, if there is one: after it the stream ends."""
        if data is not None:
            self._append(data)
        self.ended = True
        self.changed()

    def release(self, retry_ms: int) -> None:
        """Let the reader go, but not the stream (H-34, H-36)."""
        if self.reader is not None:
            self.release_ms = retry_ms
            self.changed()

    def _append(self, data: bytes) -> None:
        self._events.append(data)
        self._size += len(data)
        self.changed()

    def _is_full(self) -> bool:
        return self._size > KEPT or len(self._events) > KEPT_EVENTS

    def _trim(self) -> None:
        """Forget what was read, beyond what is kept for a client that comes back."""
        while self._is_full() and self._first < self.read:
            self._size -= len(self._events.popleft())
            self._first += 1

    def make_room(self) -> None:
        """Wake every writer that waits for a slow reader."""
        if self._room is not None:
            self._room.set()
            self._room = None

    def changed(self) -> None:
        """Wake the reader."""
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)

    async def wait(self) -> None:
        """Wait until something changes."""
        self._changed = asyncio.get_running_loop().create_future()
        await self._changed

    @property
    def shown(self) -> bool:
        """Whether its client may have seen an event id, so that it may come back, maybe before we notice that it left."""
        return self.seen or (self.reader is not None and self.reader.shows)

    @property
    def size(self) -> int:
        """The bytes that are kept."""
        return self._size


class Reader:
    """A connection that reads a stream from a position on. A newer reader takes its place."""

    __slots__ = ("_answer", "_stream", "position")

    def __init__(self, stream: Stream, position: int, answer: "Answer | None") -> None:
        """`answer`: what is written to, where events have ids."""
        self._stream = stream
        self._answer = answer
        self.position = position
        stream.reader = self
        stream.changed()  # whoever read before sees that it was replaced

    def next(self) -> bytes | None:
        """The next event, if there is one now."""
        data = self._stream.after(self.position)
        if data is not None:
            self.position += 1
            self._stream.read = max(self._stream.read, self.position)
        return data

    @property
    def id(self) -> str:
        """What a client names to go on after the event it got last."""
        return f"{self._stream.number}-{self.position}"

    @property
    def shows(self) -> bool:
        """Whether its client may have seen an event id."""
        return self._answer is not None and self._answer.started

    @property
    def replaced(self) -> bool:
        """Whether another connection reads the stream now."""
        return self._stream.reader is not self

    def wrote(self) -> None:
        """Everything up to here was handed to the connection: writers may go on."""
        self._stream.make_room()

    def leave(self) -> None:
        """The connection is gone."""
        self._stream.seen |= self.shows
        if self._stream.reader is self:
            self._stream.reader = None
        self.wrote()


def read_event_id(text: str) -> tuple[int, int] | None:
    """The stream and the position that an event id names."""
    number, dash, position = text.partition("-")
    if not dash or not (number.isascii() and number.isdigit() and position.isascii() and position.isdigit()):
        return None
    if len(text) > 40:
        return None
    return int(number), int(position)
