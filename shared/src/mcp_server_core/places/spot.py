"""One path inside an allowed place, and what can be done there.

Each call reaches its object anew, beneath the handle of its place, and acts on that object; errors of the system
come out as a ToolError in words. Nothing here parses a path.
"""

# Descriptors, not paths.
# ruff: noqa: PTH118, PTH119

import errno
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mcp_server_core.errors import ToolError
from mcp_server_core.places.handles import Place
from mcp_server_core.places.landing import HandleLanding, Landing
from mcp_server_core.places.refusals import Missing, Outside, Taken, explain, outside, shown

if TYPE_CHECKING:
    from mcp_server_core.places.places import Places
    from mcp_server_core.places.walk import Scan

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_TRIES = 4
_CHUNK = 1 << 20


class Spot:
    """A path in a place. It need not exist."""

    __slots__ = ("_places", "given", "parts", "place")

    def __init__(self, places: "Places", place: Place, parts: tuple[str, ...], given: str) -> None:
        self._places = places
        self.place = place
        self.parts = parts
        self.given = given  # as the caller wrote it: refusals say it back

    @property
    def path(self) -> str:
        """The path to show: the place's own, and the parts beneath it."""
        return os.path.join(self.place.path, *self.parts)

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else os.path.basename(self.place.path)

    def __repr__(self) -> str:
        return f"Spot({self.path!r})"

    def child(self, name: str) -> "Spot":
        """The spot of a name in this directory, as a listing gave it."""
        if name in ("", ".", "..") or "\0" in name or os.sep in name or (os.altsep or os.sep) in name:
            raise ToolError(f"{shown(name)} is not the name of a file.")
        return Spot(self._places, self.place, (*self.parts, name), os.path.join(self.given, name))

    def at(self, *parts: str) -> "Spot":
        """Another spot of the same place, by the names that lead to it; without any, the place itself."""
        spot = Spot(self._places, self.place, (), self.place.path)
        for part in parts:
            spot = spot.child(part)
        return spot

    # --- looking -------------------------------------------------------------------------------------------------

    def stat(self, *, follow: bool = True) -> os.stat_result:
        """What is there; links are followed as far as they stay inside, or not at all."""
        with self.explained():
            if follow:
                return self._places.engine.stat(self._places.find, self.place, self.parts)
            return self._reach(follow=False).stat()

    def lstat(self) -> os.stat_result:
        """What is there; a link is described, not followed."""
        return self.stat(follow=False)

    def exists(self) -> bool:
        """Whether there is something, at the end of a link too; a link that leaves the places is refused."""
        try:
            self.stat()
        except Missing:
            return False
        return True

    @contextmanager
    def scandir(self) -> Generator["Scan"]:
        """The entries of this directory, read through its handle.

        Ask an entry with `follow_symlinks=False`: by default it would look through a link that leaves the place.
        """
        with self.explained():
            scan = self._places.engine.scandir(self._places.find, self.place, self.parts)
        with scan as entries:
            yield entries

    def listdir(self) -> list[str]:
        """The names in this directory."""
        with self.scandir() as entries:
            return [entry.name for entry in entries]

    # --- opening -------------------------------------------------------------------------------------------------

    def open(self, flags: int = os.O_RDONLY, mode: int = 0o666, *, special: bool = False) -> int:
        """A descriptor of the file or directory; the caller closes it.

        Never waits: a FIFO, socket or device is refused, unless `special` asks for it.
        """
        with self.explained():
            if flags & _WRITING:
                fd = self._open_to_write(flags, mode, special=special)
            else:
                fd = self._places.engine.open(self._places.find, self.place, self.parts, flags)
            try:
                if not special:
                    self._check_kind(os.fstat(fd))
            except BaseException:
                os.close(fd)
                raise
            return fd

    def read_bytes(self, limit: int) -> bytes:
        """The whole file, which may not be longer than the limit."""
        fd = self.open(os.O_RDONLY)
        try:
            with self.explained():
                chunks: list[bytes] = []
                size = 0
                while chunk := os.read(fd, min(_CHUNK, limit + 1 - size)):
                    chunks.append(chunk)
                    size += len(chunk)
                    if size > limit:
                        raise ToolError(
                            f"{shown(self.given)} is larger than {limit} bytes: read a part of it."
                        )
        finally:
            os.close(fd)
        return b"".join(chunks)

    def open_parent(self, *, follow: bool = False, write: bool = False) -> tuple[int, str]:
        """A descriptor of the directory that holds this spot, for the `dir_fd` of os calls, and the name there.

        The caller closes it, passes `follow_symlinks=False` or O_NOFOLLOW along with the name, and asks with
        `write` before changing anything.
        """
        landing = self.landing(follow=follow, write=write)
        if not isinstance(landing, HandleLanding):
            raise ToolError(f"{shown(self.given)} cannot be held open on this system.")
        return os.dup(landing.handle.fd), landing.name

    def landing(self, *, follow: bool = True, write: bool = False) -> Landing:
        """The held directory and the name in it; `write` demands that it may be changed."""
        with self.explained():
            return self._reach_to_write(follow=follow) if write else self._reach(follow=follow)

    # --- changing ------------------------------------------------------------------------------------------------

    def mkdir(self, *, parents: bool = True) -> bool:
        """Make the directory, and those above it; False if it is there already. A failure leaves none behind."""
        with self.explained():
            made: list[Landing] = []
            try:
                for count in range(1 if parents else len(self.parts), len(self.parts) + 1):
                    step = Spot(self._places, self.place, self.parts[:count], self.given)
                    landing = step._make()
                    if landing:
                        made.append(landing)
                for landing in made:
                    landing.sync()
            except BaseException:
                for landing in reversed(made):
                    with suppress(OSError):
                        landing.rmdir()
                raise
            return bool(made)

    def unlink(self) -> None:
        """Delete the file, or the link itself."""
        with self.explained():
            landing = self._reach_to_change()
            if stat.S_ISDIR(landing.stat().st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            landing.unlink()
            landing.sync()

    def rmdir(self) -> None:
        """Delete the empty directory."""
        with self.explained():
            landing = self._reach_to_change()
            landing.rmdir()
            landing.sync()

    def rename_to(self, other: "Spot", *, overwrite: bool = False) -> None:
        """Move the file, directory or link itself; an existing destination is refused unless asked for."""
        with self.explained():
            source = self._reach_to_change()
        with other.explained():
            destination = other._reach_to_change()
        with self.explained():
            try:
                source.rename(destination, overwrite=overwrite)
                destination.sync()
                source.sync()
            except OSError as error:
                if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.EISDIR, errno.ENOTDIR):
                    raise explain(error, other.given) from None
                raise

    # --- the way there -------------------------------------------------------------------------------------------

    @contextmanager
    def explained(self) -> Generator[None]:
        """Turn what the system says about this spot into a sentence for the caller."""
        self._places.check_open(self.given)
        try:
            yield
        except Outside:
            raise outside(self.given, self._places.directories()) from None
        except OSError as error:
            raise explain(error, self.given) from None

    def _reach(self, *, follow: bool) -> Landing:
        return self._places.engine.reach(self._places.find, self.place, self.parts, follow=follow)

    def _reach_to_write(self, *, follow: bool) -> Landing:
        landing = self._reach(follow=follow)
        self._places.check_writable(self.place, landing, self.given)
        return landing

    def _reach_to_change(self) -> Landing:
        """The entry itself, for removing or renaming; an allowed directory stays where it is."""
        landing = self._reach_to_write(follow=False)
        with suppress(FileNotFoundError):
            self._places.check_movable(landing.stat(), self.given)
        return landing

    def _open_to_write(self, flags: int, mode: int, *, special: bool) -> int:
        for _ in range(_TRIES):
            landing = self._reach_to_write(follow=True)
            with suppress(FileNotFoundError):
                if not special:
                    self._check_kind(landing.stat())
            try:
                return landing.open(flags, mode)
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.EMLINK):  # it became a link since
                    raise
        raise Outside

    def _check_kind(self, found: os.stat_result) -> None:
        if stat.S_ISLNK(found.st_mode) or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            return
        raise ToolError(
            f"{shown(self.given)} is not a regular file: only files and directories can be opened."
        )

    def _make(self) -> Landing | None:
        try:
            if stat.S_ISDIR(self._places.engine.stat(self._places.find, self.place, self.parts).st_mode):
                return None
            raise Taken(f"{shown(self.given)} cannot be a directory: a file is in the way.")
        except FileNotFoundError:
            landing = self._reach_to_write(follow=True)
        try:
            landing.mkdir()
        except FileExistsError:  # somebody else was faster
            if not stat.S_ISDIR(landing.stat().st_mode):
                raise
            return None
        return landing
