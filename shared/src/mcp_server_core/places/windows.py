"""The way for systems where a directory cannot be held open as a starting point, which is Windows.

Weaker than handles, and the reason it is a module of its own: a path is resolved, its directory checked by
identity up to an allowed place, the object opened without following a last link, and then asked where it really
is; if that is no longer inside, it is closed untouched. Between the check and a call that opens nothing (mkdir,
rename, unlink) a program that exchanges directories at that moment could still lead it astray.
Runs on other systems too, which is how it is tested.
"""

# Paths are text here, because there are no handles.
# ruff: noqa: PTH102, PTH104, PTH105, PTH106, PTH108, PTH112, PTH115, PTH116, PTH118, PTH119, PTH120, PTH208

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from mcp_server_core.places.handles import NOFOLLOW, Directory, Identity, Place, identify
from mcp_server_core.places.landing import SAFE
from mcp_server_core.places.refusals import Outside
from mcp_server_core.places.walk import Find, Scan

_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:[. ].*)?", re.IGNORECASE
)


class PathLanding:
    """A name in a directory that was checked a moment ago."""

    __slots__ = ("_check", "_directory", "name")

    def __init__(self, directory: str, name: str, check: Callable[[str], None]) -> None:
        self._directory = directory
        self.name = name
        self._check = check

    @property
    def path(self) -> str:
        return os.path.join(self._directory, self.name)

    def stat(self) -> os.stat_result:
        return os.stat(self.path, follow_symlinks=False)

    def open(self, flags: int, mode: int = 0o666) -> int:
        # Truncated only after the check, so that a file elsewhere is never emptied.
        fd = os.open(self.path, flags & ~os.O_TRUNC | NOFOLLOW | SAFE, mode)
        try:
            self._check(final_path(fd))
            if flags & os.O_TRUNC:
                os.ftruncate(fd, 0)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def mkdir(self) -> None:
        os.mkdir(self.path)

    def unlink(self) -> None:
        os.unlink(self.path)

    def rmdir(self) -> None:
        os.rmdir(self.path)

    def rename(self, to: "PathLanding", *, overwrite: bool) -> None:
        if overwrite:
            os.replace(self.path, to.path)
            return
        if os.path.lexists(to.path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
        os.rename(self.path, to.path)  # which on Windows refuses an existing name by itself

    def sibling(self, name: str) -> "PathLanding":
        return PathLanding(self._directory, name, self._check)

    def names(self) -> list[str]:
        return os.listdir(self._directory)

    def lineage(self) -> Iterator[Identity]:
        return path_lineage(self._directory)

    def sync(self) -> None:
        """Windows writes directory entries through; there is nothing to flush."""

    def publish(self, fd: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))


class Paths:
    """The engine over checked paths."""

    def enter(self, path: str) -> Directory:
        real = os.path.realpath(path, strict=True)
        if not os.path.isdir(real):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return Directory(path, real, None, tuple(path_lineage(real)))

    def enter_again(self, directory: Directory) -> Directory:
        if os.path.realpath(directory.real, strict=True) != directory.real:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        return self.enter(directory.real)._replace(path=directory.path)

    def reach(self, find: Find, place: Place, parts: Sequence[str], *, follow: bool) -> PathLanding:
        check_names(parts)

        def check(path: str) -> None:
            check_inside(find, path)

        path = os.path.join(place.real, *parts)
        if follow:
            path = os.path.realpath(path)
        elif parts:
            path = os.path.join(os.path.realpath(os.path.dirname(path)), parts[-1])
        found = find(path)
        if found and not found[1]:  # a place itself: what holds it is outside
            return PathLanding(found[0].real, ".", check)
        check(os.path.dirname(path))
        return PathLanding(os.path.dirname(path), os.path.basename(path), check)

    def open(self, find: Find, place: Place, parts: Sequence[str], flags: int) -> int:
        return self.reach(find, place, parts, follow=True).open(flags)

    def stat(self, find: Find, place: Place, parts: Sequence[str]) -> os.stat_result:
        return self.reach(find, place, parts, follow=True).stat()

    def scandir(self, find: Find, place: Place, parts: Sequence[str]) -> AbstractContextManager[Scan]:
        return os.scandir(self.reach(find, place, parts, follow=True).path)


def check_inside(find: Find, path: str) -> None:
    """Raise Outside unless the path, links resolved, lies in an allowed place by identity."""
    real = os.path.realpath(path)
    found = find(real)
    directory = real if os.path.isdir(real) else os.path.dirname(real)
    if found is None or found[0].identity not in path_lineage(directory):
        raise Outside


def path_lineage(path: str) -> Iterator[Identity]:
    """The identity of a directory and of each one above it."""
    while True:
        yield identify(os.stat(path))
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def check_names(parts: Sequence[str]) -> None:
    """Refuse names that Windows reads as something else: devices, streams, names that end in a dot or a space."""
    if os.name != "nt":
        return
    for part in parts:
        if is_special(part):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))


def is_special(name: str) -> bool:
    """Whether Windows would not take the name for a plain file of that name."""
    return ":" in name or name.endswith((".", " ")) or _DEVICE.fullmatch(name) is not None


def final_path(fd: int) -> str:
    """Where an opened file really is."""
    if sys.platform == "win32":
        import ctypes
        import msvcrt

        buffer = ctypes.create_unicode_buffer(32_768)
        ask = ctypes.windll.kernel32.GetFinalPathNameByHandleW
        ask.argtypes = (ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_uint32)
        ask.restype = ctypes.c_uint32
        if not 0 < ask(msvcrt.get_osfhandle(fd), buffer, len(buffer), 0) < len(buffer):
            raise Outside
        return plain(buffer.value)
    return os.readlink(f"/proc/self/fd/{fd}")


def plain(path: str) -> str:
    r"""A path without the `\\?\` that Windows puts before a final one."""
    if path.startswith("\\\\?\\UNC\\"):
        return "\\\\" + path[8:]
    return path.removeprefix("\\\\?\\")
