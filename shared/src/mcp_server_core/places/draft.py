"""A file that is being written and cannot be seen yet.

Where the system can (O_TMPFILE) it has no name at all until it is complete; elsewhere a hidden one that nobody
can guess. What a killed process leaves behind is recognised by its prefix and by nobody holding its lock.
"""

# Descriptors, not paths.
# ruff: noqa: PTH112

import errno
import os
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Self

from mcp_server_core.places.handles import Identity
from mcp_server_core.places.landing import HandleLanding, Landing
from mcp_server_core.places.turns import try_lock

PREFIX = ".mcp-tmp-"
CHUNK = 1 << 20
_NAMELESS: int = getattr(os, "O_TMPFILE", 0)
_NO_NAMELESS = {errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.ENOSYS}
_MOST_REMEMBERED = 4096

_swept: set[Identity] = set()
_sweeping = threading.Lock()


class Draft:
    """New content for a landing. Leaving the block without `put` throws it away."""

    __slots__ = ("_hidden", "_landing", "fd")

    def __init__(self, landing: Landing, mode: int, *, nameless: bool = True) -> None:
        self._landing = landing
        self._hidden: Landing | None = None
        self.fd = _open_nameless(landing, mode) if nameless else -1
        if self.fd < 0:
            self._hidden = landing.sibling(PREFIX + os.urandom(12).hex())
            self.fd = self._hidden.open(os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError, ImportError):  # a file system without locks: then nobody sweeps either
            try_lock(self.fd)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._close()
        if self._hidden:
            with suppress(OSError):
                self._hidden.unlink()

    def fill(self, data: bytes | Iterable[bytes]) -> int:
        """Write everything; the number of bytes."""
        return write_all(self.fd, data)

    def chunks(self) -> Iterator[bytes]:
        """What was written, from the beginning."""
        if self.fd < 0 and self._hidden:
            self.fd = self._hidden.open(os.O_RDONLY)
        return read_all(self.fd)

    def put(self, *, overwrite: bool) -> None:
        """Make it visible under its name, in one step; FileExistsError if that is taken and not to be overwritten."""
        if self._hidden is None and not overwrite:
            self._landing.publish(self.fd)
            return
        if self._hidden is None:  # a rename needs a name to start from, if only for an instant
            hidden = self._landing.sibling(PREFIX + os.urandom(12).hex())
            hidden.publish(self.fd)
            self._hidden = hidden
        if not isinstance(self._landing, HandleLanding):
            self._close()  # Windows does not rename an open file
        self._hidden.rename(self._landing, overwrite=overwrite)
        self._hidden = None

    def _close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


def write_all(fd: int, data: bytes | Iterable[bytes]) -> int:
    """Write every byte to a descriptor; the number of bytes."""
    size = 0
    for chunk in (data,) if isinstance(data, bytes) else data:
        rest = memoryview(chunk)
        while rest:
            written = os.write(fd, rest[:CHUNK])
            rest = rest[written:]
            size += written
    return size


def read_all(fd: int) -> Iterator[bytes]:
    """The content of an open file, from the beginning, a piece at a time."""
    os.lseek(fd, 0, os.SEEK_SET)
    while chunk := os.read(fd, CHUNK):
        yield chunk


def _open_nameless(landing: Landing, mode: int) -> int:
    if not _NAMELESS or not isinstance(landing, HandleLanding) or not os.path.isdir("/proc/self/fd"):
        return -1
    try:
        return landing.sibling(".").open(_NAMELESS | os.O_RDWR, mode)
    except OSError as error:
        if error.errno in _NO_NAMELESS:
            return -1
        raise


def sweep(landing: Landing) -> None:
    """Remove what killed writers left in this directory; looked for once per directory and process."""
    try:
        identity = next(landing.lineage())
        with _sweeping:
            if identity in _swept:
                return
            if len(_swept) >= _MOST_REMEMBERED:
                _swept.clear()
            _swept.add(identity)
        for name in landing.names():
            if name.startswith(PREFIX):
                _remove_if_abandoned(landing.sibling(name))
    except OSError:  # tidying up must not be what fails a write
        return


def _remove_if_abandoned(left: Landing) -> None:
    with suppress(OSError):
        if not stat.S_ISREG(left.stat().st_mode):
            return
        if not isinstance(left, HandleLanding):
            left.unlink()  # Windows does not delete a file that somebody has open
            return
        fd = left.open(os.O_RDONLY)
        try:
            if try_lock(fd):
                left.unlink()
        finally:
            os.close(fd)
