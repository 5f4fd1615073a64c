"""The way from the start of a walk to the directory that is being read, and the only code here that opens anything.

Each directory is opened by its name from the descriptor of its parent and no link is followed, so that nothing
that is exchanged meanwhile leads out.
"""

# Descriptors, not paths.

import errno
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from mcp_server_core.places import Spot

Parts = tuple[str, ...]

HELD = 48  # descriptors of one walk; deeper directories are reached again from the last one held


def _flags(*names: str) -> int:
    return sum(getattr(os, name, 0) for name in names)


_ENTER = _flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK")
# Never follows a link, never waits for the other end of a FIFO.
_READ = _flags("O_RDONLY", "O_NOFOLLOW", "O_CLOEXEC", "O_NONBLOCK", "O_NOCTTY", "O_BINARY")
_HAS_HANDLES = os.open in os.supports_dir_fd and os.scandir in os.supports_fd


class Trail(Protocol):
    """How directories below the start are reached. Everything raises OSError."""

    def scan(self, parts: Parts) -> "list[os.DirEntry[str]]": ...
    def open(self, parts: Parts, name: str) -> int: ...
    def close(self) -> None: ...


@contextmanager
def open_trail(top: "Spot") -> Generator[Trail]:
    """The trail that starts at a directory; a ToolError says why there is none."""
    trail: Trail = HandleTrail(top.open(os.O_RDONLY | os.O_DIRECTORY)) if _HAS_HANDLES else SpotTrail(top)
    try:
        yield trail
    finally:
        trail.close()


class HandleTrail:
    """By descriptors. Neighbours in the tree share most of the way, so most steps open one directory."""

    def __init__(self, top: int) -> None:
        self._fds = [top]
        self._names: list[str] = []
        self._deep: tuple[Parts, int] | None = None

    def scan(self, parts: Parts) -> "list[os.DirEntry[str]]":
        """The entries of a directory. They can be asked for more until the trail goes on."""
        with os.scandir(self._go(parts)) as entries:
            return list(entries)

    def open(self, parts: Parts, name: str) -> int:
        """A descriptor of a file, for reading."""
        return os.open(name, _READ, dir_fd=self._go(parts))

    def close(self) -> None:
        """Give every descriptor back."""
        self._leave_deep()
        while self._fds:
            os.close(self._fds.pop())

    def _go(self, parts: Parts) -> int:
        names, fds = self._names, self._fds
        near = parts if len(parts) <= HELD else parts[:HELD]
        same = 0
        for here, there in zip(names, near, strict=False):
            if here != there:
                break
            same += 1
        while len(names) > same:
            names.pop()
            os.close(fds.pop())
        for part in near[same:]:
            fds.append(os.open(part, _ENTER, dir_fd=fds[-1]))
            names.append(part)
        return fds[-1] if near is parts else self._go_deep(parts)

    def _go_deep(self, parts: Parts) -> int:
        """Beyond what is held, one descriptor at a time."""
        if self._deep is not None and self._deep[0] == parts:
            return self._deep[1]
        self._leave_deep()
        fd = os.dup(self._fds[-1])
        for part in parts[HELD:]:
            try:
                inner = os.open(part, _ENTER, dir_fd=fd)
            finally:
                os.close(fd)
            fd = inner
        self._deep = parts, fd
        return fd

    def _leave_deep(self) -> None:
        if self._deep is not None:
            os.close(self._deep[1])
            self._deep = None


class SpotTrail:
    """By spots, where directories cannot be held open (Windows)."""

    def __init__(self, top: "Spot") -> None:
        self._top = top

    def scan(self, parts: Parts) -> "list[os.DirEntry[str]]":
        """The entries of a directory."""
        from mcp_server_core import ToolError

        try:
            with self._spot(parts).scandir() as entries:
                return list(entries)
        except ToolError as error:
            if not parts:
                raise  # the start itself: the caller should know why
            raise OSError(errno.ENOENT, str(error)) from None

    def open(self, parts: Parts, name: str) -> int:
        """A descriptor of a file, for reading."""
        from mcp_server_core import ToolError

        try:
            return self._spot((*parts, name)).open(os.O_RDONLY | _flags("O_BINARY"))
        except ToolError as error:
            raise OSError(errno.ENOENT, str(error)) from None

    def close(self) -> None:
        """There is nothing to give back."""

    def _spot(self, parts: Parts) -> "Spot":
        import stat

        spot = self._top
        for part in parts:
            spot = spot.child(part)
            if stat.S_ISLNK(spot.lstat().st_mode):
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return spot
