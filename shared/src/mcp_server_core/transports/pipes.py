"""Messages over two file descriptors, one per line: the wire of stdio, for the server's and the client's side."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import anyio
from anyio import to_thread

from ..errors import ConnectionLost, ParseError
from ..protocol.codec import Malformed, decode, encode_line
from ..protocol.lines import DEFAULT_LIMIT, Lines
from ..protocol.messages import Json, RequestId
from .readers import can_wait, open_reader

_PIPE_SIZE = 1024 * 1024  # a megabyte in a pipe saves a wake-up per 64 KiB of a large message
_F_SETPIPE_SZ = 1031  # Linux


class PipeChannel:
    """A channel over a descriptor to read and one to write, both owned by the channel."""

    def __init__(
        self,
        read_fd: int,
        write_fd: int,
        *,
        limit: int = DEFAULT_LIMIT,
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_end` is called as soon as the end is known, from any thread, and perhaps more than once."""
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._on_end = on_end
        self._reader = open_reader(read_fd, on_end)
        self._lines = Lines(limit)
        self._ready: deque[bytes | Malformed] = deque()
        self._write_lock = anyio.Lock()
        self._unwritten = memoryview(b"")
        self._pieces: Iterator[bytes] | None = None  # the rest of a line that is written piece by piece
        self._lost = False
        self.moved = 0  # reads and writes so far
        self._writes_directly = can_wait(write_fd)
        if self._writes_directly and not os.isatty(write_fd):
            os.set_blocking(write_fd, False)
        _enlarge(read_fd)
        _enlarge(write_fd)

    async def receive(self) -> Any:
        """The next message. Reads on only when the last one was taken: a slow server slows its client."""
        while not self._ready:
            chunk = await self._reader.read()
            self.moved += 1
            self._ready.extend(self._lines.feed(chunk) if chunk else self._lines.end())
            if not chunk and not self._ready:
                raise ConnectionLost("the peer closed the connection")
        line = self._ready.popleft()
        if type(line) is not bytes:
            return line
        try:
            return decode(line)
        except ParseError as error:
            return Malformed(error.message)

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Write one message and its newline; waits while the pipe is full."""
        data = encode_line(message)
        if isinstance(data, bytes):
            await self.send_bytes(data)
            return
        async with self._write_lock:
            await self._finish_line()
            self._pieces = data
            await self._finish_line()

    async def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are. A line is never torn: what a cancelled sender began, the next one completes."""
        idle = not self._unwritten and self._pieces is None and not self._write_lock.locked()
        if self._writes_directly and idle:
            # Most answers fit into the pipe: no lock, no turn of the event loop.
            written = self._write(data)
            if written == len(data):
                return
            if written:
                self._unwritten, data = memoryview(data)[written:], b""
        async with self._write_lock:
            await self._finish_line()
            if data:
                written = await self._write_some(memoryview(data))
                self._unwritten = memoryview(data)[written:]
                await self._finish_line()

    async def _finish_line(self) -> None:
        while self._unwritten or self._next_piece():
            written = await self._write_some(self._unwritten)
            self._unwritten = self._unwritten[written:]

    def _next_piece(self) -> bool:
        if self._pieces is None:
            return False
        piece = next(filter(None, self._pieces), None)
        if piece is None:
            self._pieces = None
            return False
        self._unwritten = memoryview(piece)
        return True

    async def _write_some(self, data: memoryview) -> int:
        """Write something, as soon as something can be written."""
        written = self._write(data) if self._writes_directly else 0
        while not written:
            if self._writes_directly:
                try:
                    await anyio.wait_writable(self._write_fd)
                except (OSError, anyio.ClosedResourceError):
                    self._lose()
                written = self._write(data)
            else:
                # A file, or a Windows pipe: nothing to wait for, so a thread does the waiting.
                written = await to_thread.run_sync(self._write, data)
        return written

    def _write(self, data: bytes | memoryview) -> int:
        if self._lost:
            raise ConnectionLost("the peer is gone")
        try:
            written = os.write(self._write_fd, data)
            self.moved += 1
            return written
        except BlockingIOError:
            return 0
        except OSError:
            self._lose()
            return 0

    def _lose(self) -> None:
        """A broken pipe ends both directions: nobody is there to read an answer."""
        self._on_end()
        self._lost = True
        self._reader.stop()
        raise ConnectionLost("the peer is gone")

    async def close(self) -> None:
        """Close both descriptors; whoever reads or writes sees the connection end."""
        self._lost = True
        self._reader.stop()
        for fd in (self._read_fd, self._write_fd):
            if fd >= 0:
                anyio.notify_closing(fd)
                os.close(fd)
        self._read_fd = self._write_fd = -1


def _enlarge(fd: int) -> None:
    if sys.platform == "linux":
        from fcntl import fcntl

        try:
            fcntl(fd, _F_SETPIPE_SZ, _PIPE_SIZE)
        except OSError:
            return  # a socket, a file, or more than this user may have
