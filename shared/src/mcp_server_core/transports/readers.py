"""Reading chunks of bytes from a descriptor without blocking the event loop, in the cheapest way it allows."""

import os
import stat
import sys
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import anyio
from anyio import to_thread

if TYPE_CHECKING:
    from asyncio import Future

_SMALL_READ = 64 * 1024
_LARGE_READ = 1024 * 1024


class Reader(Protocol):
    """Chunks of bytes; an empty one is the end."""

    async def read(self) -> bytes:
        """The next chunk."""
        ...

    def stop(self) -> None:
        """Whoever reads now or later gets the end."""
        ...


def open_reader(fd: int, on_end: Callable[[], None]) -> Reader:
    """A reader for this descriptor and the event loop that is running; `on_end` hears of the end first."""
    if not can_wait(fd):
        return _Blocking(fd, on_end)
    if _on_asyncio():
        return _Registered(fd, on_end)
    return _Blocking(fd, on_end, wait=True)


def can_wait(fd: int) -> bool:
    """Whether an event loop can wait for this descriptor; files and Windows pipes need a thread instead."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


def _on_asyncio() -> bool:
    asyncio_module = sys.modules.get("asyncio")
    if asyncio_module is None:
        return False
    try:
        asyncio_module.get_running_loop()
    except RuntimeError:
        return False
    return True


class _Registered:
    """For asyncio: the descriptor stays registered between reads.

    `anyio.wait_readable` registers it anew each time, which costs as much as everything else a small call does
    (60 us instead of 20 per message). When nobody asks for more, it is taken out, and the pipe fills up.
    """

    def __init__(self, fd: int, on_end: Callable[[], None]) -> None:
        import asyncio

        self._fd = fd
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._chunks: deque[bytes] = deque()
        self._waiter: Future[None] | None = None
        self._registered = False
        self._ended = False
        self._size = _SMALL_READ

    async def read(self) -> bytes:
        while not self._chunks:
            if self._ended:
                return b""
            if not self._registered:
                self._loop.add_reader(self._fd, self._readable)
                self._registered = True
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        return self._chunks.popleft()

    def _readable(self) -> None:
        if self._waiter is None or self._waiter.done():
            self._unregister()
            return
        try:
            chunk = os.read(self._fd, self._size)
        except OSError:
            chunk = b""
        if chunk:
            self._chunks.append(chunk)
            if len(chunk) == self._size:
                self._size = _LARGE_READ
            self._waiter.set_result(None)
        else:
            self._on_end()
            self.stop()

    def _unregister(self) -> None:
        if self._registered:
            self._registered = False
            self._loop.remove_reader(self._fd)

    def stop(self) -> None:
        self._ended = True
        self._unregister()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class _Blocking:
    """For any other loop, and for descriptors that only a thread can wait for."""

    def __init__(self, fd: int, on_end: Callable[[], None], *, wait: bool = False) -> None:
        self._fd = fd
        self._on_end = on_end
        self._wait = wait
        self._scope: anyio.CancelScope | None = None
        self._ended = False

    async def read(self) -> bytes:
        chunk = b""
        if self._ended:
            return chunk
        with anyio.CancelScope() as self._scope:
            try:
                if self._wait:
                    await anyio.wait_readable(self._fd)
                    chunk = self._read()
                else:
                    chunk = await to_thread.run_sync(self._read, abandon_on_cancel=True)
            except (OSError, anyio.ClosedResourceError):
                chunk = b""
        return chunk

    def _read(self) -> bytes:
        chunk = os.read(self._fd, _LARGE_READ)
        if not chunk:
            self._on_end()
        return chunk

    def stop(self) -> None:
        self._ended = True
        if self._scope is not None:
            self._scope.cancel()
