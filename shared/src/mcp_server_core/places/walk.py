"""From a place and the parts of a path to the object they name, without ever leaving the allowed places.

Two engines with one interface. `Walk` opens one component after the other, without following links, and reads
each link by hand: a link that ends inside any allowed place of the caller is followed through that place's own
handle, any other is Outside. `Kernel` lets openat2 do it in one call, and walks only when a link needs it.
"""

# Descriptors, not paths.
# ruff: noqa: PTH116, PTH118, PTH120

import errno
import os
import stat
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from typing import Protocol

from mcp_server_core.places import openat2
from mcp_server_core.places.finding import Found
from mcp_server_core.places.handles import ENTER, Directory, Handle, Place, identify
from mcp_server_core.places.landing import SAFE, HandleLanding, Landing
from mcp_server_core.places.refusals import Outside
from mcp_server_core.places.spelling import split

# Finds the place that an absolute path leads into, and what is left of the path there; `..` may be in it.
Find = Callable[[str], Found | None]

Scan = Iterator["os.DirEntry[str]"]

_MOST_LINKS = 40  # as Linux has it
_TRIES = 4  # of a path that is being changed under our feet; then it is refused
_NOT_A_DIRECTORY = (errno.ENOTDIR, errno.ELOOP, errno.EMLINK)  # EMLINK: what FreeBSD says of a link


class Engine(Protocol):
    """How objects beneath a place are reached. All of it raises OSError and Outside; Spot puts them in words."""

    def enter(self, path: str) -> Directory: ...
    def enter_again(self, directory: Directory) -> Directory: ...
    def reach(self, find: Find, place: Place, parts: Sequence[str], *, follow: bool) -> Landing: ...
    def open(self, find: Find, place: Place, parts: Sequence[str], flags: int) -> int: ...
    def stat(self, find: Find, place: Place, parts: Sequence[str]) -> os.stat_result: ...
    def scandir(self, find: Find, place: Place, parts: Sequence[str]) -> AbstractContextManager[Scan]: ...


class _Moved(Exception):
    """A directory is no longer where it was entered."""


class Walk:
    """One component at a time: works wherever there are directory handles."""

    def enter(self, path: str) -> Directory:
        """Open a directory that somebody allowed, following links: the name is theirs to choose."""
        handle = Handle(os.open(path, ENTER))
        lineage = tuple(handle.lineage())
        real = os.path.realpath(path)
        same = identify(os.stat(real)) == lineage[0]
        return Directory(path, real if same else path, handle, lineage)

    def enter_again(self, directory: Directory) -> Directory:
        """Open what now stands where the directory was, but through no link: a link there is not the operator's."""
        handle = Handle(os.open(os.sep, ENTER))
        for part in split(directory.real):
            handle = handle.enter(part)
        return directory._replace(handle=handle, lineage=tuple(handle.lineage()))

    def reach(self, find: Find, place: Place, parts: Sequence[str], *, follow: bool) -> HandleLanding:
        """The directory that holds the end of the path, and the name there; with `follow`, not that of a link."""
        for _ in range(_TRIES):
            try:
                return _walk(find, place, parts, follow=follow)
            except _Moved:
                continue
        raise Outside

    def open(self, find: Find, place: Place, parts: Sequence[str], flags: int) -> int:
        """Open what is there, links followed as far as they stay inside."""
        for _ in range(_TRIES):
            landing = self.reach(find, place, parts, follow=True)
            try:
                return landing.open(flags)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.EMLINK):  # it became a link since
                    raise
        raise Outside

    def stat(self, find: Find, place: Place, parts: Sequence[str]) -> os.stat_result:
        """What is known about the object, links followed as far as they stay inside."""
        for _ in range(_TRIES):
            found = self.reach(find, place, parts, follow=True).stat()
            if not stat.S_ISLNK(found.st_mode):
                return found
        raise Outside

    def scandir(self, find: Find, place: Place, parts: Sequence[str]) -> AbstractContextManager[Scan]:
        return _scan(self.open(find, place, parts, os.O_RDONLY | os.O_DIRECTORY))


class Kernel:
    """openat2: one call per path, and no moment at which a link could be exchanged."""

    def __init__(self) -> None:
        self._walk = Walk()

    def enter(self, path: str) -> Directory:
        return self._walk.enter(path)

    def enter_again(self, directory: Directory) -> Directory:
        handle = Handle(openat2.open_without_links(directory.real, ENTER))
        return directory._replace(handle=handle, lineage=tuple(handle.lineage()))

    def reach(self, find: Find, place: Place, parts: Sequence[str], *, follow: bool) -> HandleLanding:
        if not parts:
            return HandleLanding(place.handle, ".")
        parent = place.handle
        if len(parts) > 1:
            fd = _open_beneath(parent, parts[:-1], ENTER)
            if fd is None:
                return self._walk.reach(find, place, parts, follow=follow)
            parent = Handle(fd)
        if follow and _read_link(parent, parts[-1]) is not None:
            return self._walk.reach(find, place, parts, follow=True)
        return HandleLanding(parent, parts[-1])

    def open(self, find: Find, place: Place, parts: Sequence[str], flags: int) -> int:
        fd = _open_beneath(place.handle, parts, flags | SAFE)
        return self._walk.open(find, place, parts, flags) if fd is None else fd

    def stat(self, find: Find, place: Place, parts: Sequence[str]) -> os.stat_result:
        fd = _open_beneath(place.handle, parts, os.O_PATH)
        if fd is None:
            return self._walk.stat(find, place, parts)
        try:
            return os.fstat(fd)
        finally:
            os.close(fd)

    def scandir(self, find: Find, place: Place, parts: Sequence[str]) -> AbstractContextManager[Scan]:
        return _scan(self.open(find, place, parts, os.O_RDONLY | os.O_DIRECTORY))


def _open_beneath(handle: Handle, parts: Sequence[str], flags: int) -> int | None:
    """Ask the kernel; None when a link leaves the directory, or a rename raced with the call: then we walk."""
    try:
        return openat2.open_beneath(handle.fd, "/".join(parts) or ".", flags)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EAGAIN):
            raise
        return None


@contextmanager
def _scan(fd: int) -> Generator[Scan]:
    try:
        with os.scandir(fd) as entries:
            yield entries
    finally:
        os.close(fd)


def _walk(find: Find, place: Place, parts: Sequence[str], *, follow: bool) -> HandleLanding:
    stack = [place.handle]  # the way down, each entered from the one before
    pending = list(reversed(parts))
    links = _MOST_LINKS
    name = "."
    while pending:
        part = pending.pop()
        target: str | None = None
        if part == "..":
            if len(stack) > 1:
                stack.pop()
                continue
            # A link climbs out of this place: perhaps into another one.
            target = os.path.dirname(place.real)
        elif pending:
            target = _descend(stack, part)
        elif follow:
            target = _read_link(stack[-1], part)
        if target is None:
            name = "." if pending else part
            continue
        if links == 0:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        links -= 1
        if target.startswith("/"):
            found = find(os.path.join(target, *reversed(pending)))
            if found is None:
                raise Outside
            place, rest = found
            stack, pending = [place.handle], list(reversed(rest))
        else:
            pending.extend(reversed(split(target)))
    _check(stack)
    return HandleLanding(stack[-1], name)


def _descend(stack: list[Handle], part: str) -> str | None:
    """Enter a directory, or give the target of the link that stands there."""
    try:
        stack.append(stack[-1].enter(part))
    except OSError as error:
        if error.errno not in _NOT_A_DIRECTORY:
            raise
        target = _read_link(stack[-1], part)
        if target is None:
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR)) from None
        return target
    return None


def _read_link(handle: Handle, name: str) -> str | None:
    try:
        return os.readlink(name, dir_fd=handle.fd)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.EINVAL:  # no link
            return None
        raise


def _check(stack: list[Handle]) -> None:
    """Each directory must still lie in the one it was entered from: moved away, it may be outside by now."""
    for parent, child in pairwise(stack):
        if identify(os.stat("..", dir_fd=child.fd)) != parent.identity():
            raise _Moved
