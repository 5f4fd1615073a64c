"""What uvicorn leaves open: limits on the size and the time of a request's head, on the time of its body, and on how
long a client may leave its answer unread. Two lengths in one request are refused by the parser itself.
"""

import asyncio
import socket
import struct
import sys
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from .settings import HttpSettings

BEHIND = 256 * 1024  # bytes that may wait behind a request that is not answered yet
_AT_ONCE = struct.pack("hh" if sys.platform == "win32" else "ii", 1, 0)
TOLD = 64  # connections beyond the limit that wait for their request, to be answered 503; more are closed at once
LAST_CALL = 0.2  # seconds in which a request that is on its way is still taken when the server stops
_HEAD = b"content-length: 0\r\nconnection: close\r\n\r\n"
_TOO_LARGE = b"HTTP/1.1 431 Request Header Fields Too Large\r\n" + _HEAD
_TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\n" + _HEAD


class _Pipeline(list[Any]):
    """Requests that were sent in a row. Hardly any client does that, and every connection has one."""

    __slots__ = ()

    def appendleft(self, item: Any) -> None:
        """Add a request; the one that came first is taken from the end."""
        self.insert(0, item)


def _lighten(event: asyncio.Event) -> None:
    """Hold whoever waits in a list: an event has one waiter here, and its empty deque 760 bytes."""
    event._waiters = []  # type: ignore[assignment] # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]


class GuardedProtocol(HttpToolsProtocol):
    """One connection. A request that arrives whole costs no timer."""

    # Beside the attributes of the base class: those share their keys only as long as there are at most thirty.
    __slots__ = (
        "_deadline",
        "_head_size",
        "_in_body",
        "_in_head",
        "_serving",
        "_settings",
        "_stall",
        "_unread",
    )

    def __init__(self, settings: HttpSettings, **given: Any) -> None:
        super().__init__(**given)
        self.pipeline = _Pipeline()  # pyright: ignore[reportAttributeAccessIssue] - an empty deque has 760 bytes, this has 56
        self._settings = settings
        self._head_size = 0
        self._in_head = False
        self._in_body = False
        self._serving: RequestResponseCycle | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._stall: asyncio.TimerHandle | None = None
        self._unread = 0
        self._behind = 0
        self._lost = False

    # The life of the connection.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > self._settings.max_connections + TOLD:
            transport.abort()
            return
        _lighten(self.flow._is_writable_event)  # pyright: ignore[reportPrivateUsage]
        self._arm(self._settings.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._disarm()
        self._relax()
        super().connection_lost(exc)
        # uvicorn tells only the newest of several requests that were sent in a row.
        for cycle in (self._serving, *(waiting for waiting, _ in self.pipeline)):
            if cycle is not None:
                cycle.disconnected = True
                cycle.message_event.set()
        self.pipeline.clear()

    def shutdown(self) -> None:
        if self.cycle is None or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison] - None before the first request
            self.loop.call_later(LAST_CALL, super().shutdown)
        else:
            super().shutdown()

    def data_received(self, data: bytes) -> None:
        if self.parser is None or self.transport.is_closing():  # pyright: ignore[reportUnnecessaryComparison] - None once the connection is lost
            return
        was_idle = not (self._in_head or self._in_body)
        if self._in_head:
            self._head_size += len(data)  # whether or not a field of it is complete
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self.pipeline:
            self._read_on(len(data))
        if self._in_head and was_idle:
            self._head_size = max(self._head_size, len(data))
        if self._head_size > self._settings.max_head:
            self._refuse(_TOO_LARGE)
        elif self._in_head:
            self._arm(self._settings.head_seconds)
        elif self._in_body:
            self._arm(self._settings.body_seconds)
        else:
            self._disarm()

    def _read_on(self, size: int) -> None:
        """uvicorn stops reading at the first request that has to wait, and would not see the client hang up."""
        self._behind += size
        if self._behind <= BEHIND:
            self.flow.resume_reading()

    # What the parser sees.

    def on_message_begin(self) -> None:
        self._in_head, self._in_body, self._head_size = True, False, 0
        self._disarm()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head, self._in_body = False, True
        self._disarm()
        if self._head_size + len(self.url) > self._settings.max_head:
            self._head_size = self._settings.max_head + 1
            raise httptools.HttpParserError("the head is too large")
        self._head_size = 0
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_body = False
        self._disarm()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head_size > self._settings.max_head:
            self._refuse(_TOO_LARGE)
        else:
            super().send_400_response(msg)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._serving = cycle
        _lighten(cycle.message_event)
        if not self.pipeline:
            self._behind = 0
        super()._start_asgi_task(cycle, app)

    # Time.

    def _arm(self, seconds: float) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(seconds, self._refuse, _TOO_SLOW)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, response: bytes) -> None:
        """Answer, unless an answer has begun, and hang up whether or not the client reads it."""
        self._disarm()
        if not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:  # pyright: ignore[reportUnnecessaryComparison] - None before the first request
                self.transport.write(response)
            self._hang_up()

    def timeout_keep_alive_handler(self) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        self.transport.close()
        # Closing waits until the last bytes are read; a client that does not read is not waited for.
        self.loop.call_later(self._settings.stalled_seconds, self._drop)

    def _drop(self) -> None:
        """Hang up without delivering what is left: else the system would keep it for a client that never reads."""
        if not self._lost:
            bound = self.transport.get_extra_info("socket")
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
            self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self._count_unread()
        self._stall = self.loop.call_later(self._settings.stalled_seconds, self._check_progress)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._relax()

    def _check_progress(self) -> None:
        """The client has not caught up; it may stay as long as it reads at all."""
        unread = self._count_unread()
        if unread >= self._unread:
            self._drop()
            return
        self._unread = unread
        self._stall = self.loop.call_later(self._settings.stalled_seconds, self._check_progress)

    def _count_unread(self) -> int:
        """Bytes that the client has not taken, with those that the system holds for it, where it tells."""
        waiting = self.transport.get_write_buffer_size()
        if sys.platform == "linux":
            from fcntl import ioctl
            from termios import TIOCOUTQ

            fd = self.transport.get_extra_info("socket").fileno()
            waiting += int.from_bytes(ioctl(fd, TIOCOUTQ, bytes(4)), sys.byteorder)
        return waiting

    def _relax(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
