"""Where a path ends: a directory that is held open, and a name in it.

Every call acts on that name relative to the handle and never follows a link, so that nothing that happens to
the rest of the tree can lead it elsewhere. How one gets here is walk.py; windows.py has the same by paths.
"""

# Descriptors, not paths.
# ruff: noqa: PTH104, PTH208

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Protocol, Self

from mcp_server_core.places import openat2
from mcp_server_core.places.handles import NOFOLLOW, Handle, Identity, identify

# Never wait for the other end of a FIFO, never adopt a terminal, never leak into a child; bytes as they are.
SAFE: int = sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY"))
_NO_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS, errno.EACCES}


class Landing(Protocol):
    """A name in a directory beneath an allowed place; `.` stands for the directory itself."""

    @property
    def name(self) -> str: ...
    def stat(self) -> os.stat_result: ...
    def open(self, flags: int, mode: int = 0o666) -> int: ...
    def mkdir(self) -> None: ...
    def unlink(self) -> None: ...
    def rmdir(self) -> None: ...
    # Only landings of the same engine are ever brought together.
    def rename(self, to: Any, *, overwrite: bool) -> None: ...
    def sibling(self, name: str) -> Self: ...
    def names(self) -> list[str]: ...
    def lineage(self) -> Iterator[Identity]: ...
    def sync(self) -> None: ...
    def publish(self, fd: int) -> None: ...


class HandleLanding:
    """The landing on systems where a directory can be held open."""

    __slots__ = ("handle", "name")

    def __init__(self, handle: Handle, name: str) -> None:
        self.handle = handle
        self.name = name

    def stat(self) -> os.stat_result:
        return os.stat(self.name, dir_fd=self.handle.fd, follow_symlinks=False)

    def open(self, flags: int, mode: int = 0o666) -> int:
        return os.open(self.name, flags | NOFOLLOW | SAFE, mode, dir_fd=self.handle.fd)

    def mkdir(self) -> None:
        os.mkdir(self.name, dir_fd=self.handle.fd)

    def unlink(self) -> None:
        os.unlink(self.name, dir_fd=self.handle.fd)

    def rmdir(self) -> None:
        os.rmdir(self.name, dir_fd=self.handle.fd)

    def rename(self, to: "HandleLanding", *, overwrite: bool) -> None:
        """Give it another name; without `overwrite` an existing one is FileExistsError, in one step on Linux."""
        if overwrite:
            os.replace(self.name, to.name, src_dir_fd=self.handle.fd, dst_dir_fd=to.handle.fd)
        elif not openat2.rename_new(self.handle.fd, self.name, to.handle.fd, to.name):
            rename_in_steps(self, to)

    def sibling(self, name: str) -> "HandleLanding":
        return HandleLanding(self.handle, name)

    def names(self) -> list[str]:
        """What is in the directory."""
        fd = self.open_directory()
        try:
            return os.listdir(fd)
        finally:
            os.close(fd)

    def open_directory(self) -> int:
        """The directory that holds the name, opened for reading, which a handle is not."""
        return os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.handle.fd)

    def lineage(self) -> Iterator[Identity]:
        """The directory, then its parents, by asking each for its own `..`."""
        return self.handle.lineage()

    def sync(self) -> None:
        """Flush the directory, so that a new or changed name survives a crash."""
        try:
            fd = self.open_directory()
        except (
            PermissionError
        ):  # may be entered and written, may not be read: the system flushes it in its own time
            return
        try:
            os.fsync(fd)
        except OSError as error:
            if error.errno not in (
                errno.EINVAL,
                errno.ENOTSUP,
                errno.EROFS,
            ):  # file systems without the notion
                raise
        finally:
            os.close(fd)

    def publish(self, fd: int) -> None:
        """Give an unnamed file (O_TMPFILE) this name; FileExistsError if there is one."""
        os.link(f"/proc/self/fd/{fd}", self.name, dst_dir_fd=self.handle.fd, follow_symlinks=True)


def rename_in_steps(source: HandleLanding, to: HandleLanding) -> None:
    """Rename without overwriting where no single call does it: the new name is always taken exclusively first."""
    found = source.stat()
    fds = {"src_dir_fd": source.handle.fd, "dst_dir_fd": to.handle.fd}
    if stat.S_ISDIR(found.st_mode):
        to.mkdir()  # a directory may be renamed over an empty one, and over nothing else
        try:
            os.rename(source.name, to.name, **fds)
        except OSError:
            with suppress(OSError):
                to.rmdir()
            raise
        return
    try:
        os.link(source.name, to.name, **fds, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        _rename_where_links_do_not_exist(source, to, fds)
        return
    if identify(source.stat()) == identify(to.stat()):  # else it was exchanged meanwhile: both names stay
        source.unlink()


def _rename_where_links_do_not_exist(source: HandleLanding, to: HandleLanding, fds: dict[str, int]) -> None:
    with suppress(FileNotFoundError):
        to.stat()
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    os.rename(source.name, to.name, **fds)
