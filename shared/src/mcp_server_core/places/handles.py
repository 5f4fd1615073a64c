"""Open directories: what every access starts from.

A Handle owns one descriptor and closes it when nobody uses it any more, so that a thread in the middle of a
call never sees its number reused. A Place is an allowed directory with its handle and its rights.
"""

# Descriptors, not paths.
# ruff: noqa: PTH112, PTH116

import os
from collections.abc import Iterator
from typing import NamedTuple

from mcp_server_core.places.spelling import split

# O_PATH asks for no read permission and does not keep a file system from being remounted.
ENTER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_DEEPEST = 512


class Identity(NamedTuple):
    """What makes two paths the same object."""

    device: int
    inode: int


def identify(found: os.stat_result) -> Identity:
    return Identity(found.st_dev, found.st_ino)


class Handle:
    """An open directory. Closed with the last reference to it."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)

    def enter(self, name: str) -> "Handle":
        """The directory of that name in this one; a link is ELOOP or ENOTDIR."""
        return Handle(os.open(name, ENTER | NOFOLLOW, dir_fd=self.fd))

    def identity(self) -> Identity:
        return identify(os.fstat(self.fd))

    def lineage(self) -> Iterator[Identity]:
        """This directory, its parent, and so on up to the root of the file system."""
        latest = self.identity()
        yield latest
        up = ".."
        for _ in range(_DEEPEST):
            parent = identify(os.stat(up, dir_fd=self.fd))
            if parent == latest:
                return
            yield parent
            latest, up = parent, f"../{up}"


class Directory(NamedTuple):
    """A directory that was found and opened under the path somebody named."""

    path: str
    real: str  # without links, as it was when it was opened
    handle: Handle | None  # None where directories cannot be opened (Windows)
    lineage: tuple[Identity, ...]

    @property
    def identity(self) -> Identity:
        return self.lineage[0]

    def is_gone(self) -> bool:
        """Whether it was deleted. One that was renamed away is still there."""
        try:
            return os.fstat(self.handle.fd).st_nlink == 0 if self.handle else not os.path.isdir(self.real)
        except OSError:
            return True

    def is_replaced(self) -> bool:
        """Whether another object now stands where this one was opened."""
        try:
            return identify(os.stat(self.real)) != self.identity
        except OSError:
            return False


class Place:
    """A directory that may be used, and how."""

    __slots__ = ("directory", "parts", "real_parts", "reason", "writable")

    def __init__(self, directory: Directory, *, writable: bool, reason: str) -> None:
        self.directory = directory
        self.writable = writable
        self.reason = reason
        self.parts = split(directory.path)
        self.real_parts = split(directory.real)

    @property
    def path(self) -> str:
        """The path to show: as the operator or the client named it."""
        return self.directory.path

    @property
    def real(self) -> str:
        """The path without links."""
        return self.directory.real

    @property
    def identity(self) -> Identity:
        return self.directory.identity

    @property
    def handle(self) -> Handle:
        handle = self.directory.handle
        assert handle is not None, "this system has no directory handles"
        return handle

    def __repr__(self) -> str:
        return f"Place({self.path!r}, writable={self.writable}, reason={self.reason!r})"
