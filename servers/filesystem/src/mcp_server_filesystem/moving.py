"""Files and directories that are copied or moved. A destination is never overwritten.

What is copied as a tree is built under a hidden name and appears in one step. Knows allowed places, no protocol.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from mcp_server_core import ToolError
from mcp_server_core.places import OtherDisk, Spot, Stamp, Taken, shown

from .entries import (
    HIDDEN,
    Step,
    changed,
    copy_faithfully,
    copy_file,
    copy_link,
    dress,
    refuse_taken,
    remove,
    spot_turns,
    taken,
)
from .writing import missing_parent

MOST_ENTRIES = 20_000
DEEPEST = 300
"""Directories inside each other that are copied."""


def copy(source: Spot, destination: Spot, step: Step) -> int:
    """Copy a file, or a directory with all that is in it; the number of files."""
    found = source.stat()
    with missing_parent(destination):
        refuse_taken(destination)
        if stat.S_ISDIR(found.st_mode):
            return len(_Tree(source, destination, step).copy())
        copy_file(source, destination, step)
        return 1


def move(source: Spot, destination: Spot, step: Step) -> None:
    """Give a file, a directory or a link another name, on another disk too."""
    found = source.lstat()
    with missing_parent(destination):
        if source.parts and stat.S_ISDIR(found.st_mode):
            _refuse_inside(source, destination, "moved")
        try:
            with spot_turns(source, destination):
                source.rename_to(destination)
        except Taken:
            raise taken(destination) from None
        except OtherDisk:
            refuse_taken(destination)
            if stat.S_ISDIR(found.st_mode):
                _Tree(source, destination, step, faithful=True).move()
            else:
                _move_file_by_copying(source, destination, found, step)


def _move_file_by_copying(source: Spot, destination: Spot, found: os.stat_result, step: Step) -> None:
    """The copy is complete before the original goes, and goes itself if the original cannot."""
    copy_faithfully(source, destination, found, step)
    try:
        with spot_turns(source):
            if Stamp.of(source.lstat()) != Stamp.of(found):
                raise changed(source)
            source.unlink()
    except BaseException:
        remove(destination)
        raise


class _Tree:
    """A directory on its way to another place. Until it is complete, nothing of it can be seen there."""

    def __init__(self, source: Spot, destination: Spot, step: Step, *, faithful: bool = False) -> None:
        self._source = source
        self._destination = destination
        self._step = step
        self._faithful = faithful
        self._stamps: list[tuple[Spot, Stamp]] = []

    def copy(self) -> list[tuple[Spot, Stamp]]:
        """Copy; the files that were copied, as they were."""
        _refuse_inside(self._source, self._destination, "copied")
        with _hidden_directory(self._destination) as hidden:
            self._copy_directory(self._source, hidden.child("new"))
            with spot_turns(self._destination):
                hidden.child("new").rename_to(self._destination)
        return self._stamps

    def move(self) -> None:
        """Copy, look whether anything changed meanwhile, and take the original away in one step."""
        self.copy()
        try:
            with spot_turns(self._source):
                if any(Stamp.of(spot.lstat()) != stamp for spot, stamp in self._stamps):
                    raise changed(self._source)
                gone = _hidden(self._source)
                self._source.rename_to(gone)
        except BaseException:
            remove(self._destination)
            raise
        remove(gone)

    def _copy_directory(self, source: Spot, target: Spot) -> None:
        if len(source.parts) - len(self._source.parts) > DEEPEST:
            raise ToolError(
                f"{shown(self._source.given)} goes more than {DEEPEST} directories deep: copy parts of it."
            )
        target.mkdir(parents=False)
        for name in source.listdir():
            self._copy_entry(source.child(name), target.child(name))
        found = source.stat()
        if self._faithful:
            dress(target, found, source)
        else:
            _set_mode(target, found)

    def _copy_entry(self, source: Spot, target: Spot) -> None:
        self._step()
        if len(self._stamps) >= MOST_ENTRIES:
            raise ToolError(
                f"{shown(self._source.given)} holds more than {MOST_ENTRIES} files: copy parts of it."
            )
        found = source.lstat()
        if stat.S_ISDIR(found.st_mode):
            self._copy_directory(source, target)
            return
        self._stamps.append((source, Stamp.of(found)))
        if stat.S_ISLNK(found.st_mode):
            copy_link(source, target)
        elif self._faithful:
            copy_faithfully(source, target, found, self._step)
        else:
            copy_file(source, target, self._step)


def _refuse_inside(source: Spot, destination: Spot, done: str) -> None:
    inner = destination.landing(follow=False, write=True)
    with source.explained():
        found = source.stat()
        if (found.st_dev, found.st_ino) in set(inner.lineage()):
            raise ToolError(f"{shown(destination.given)} is inside the directory to be {done}.")


def _set_mode(spot: Spot, found: os.stat_result) -> None:
    """Never more than the original allows."""
    fd = spot.open(os.O_RDONLY)
    try:
        with spot.explained():
            if hasattr(os, "fchmod"):
                os.fchmod(fd, stat.S_IMODE(os.fstat(fd).st_mode) & stat.S_IMODE(found.st_mode) | stat.S_IRWXU)
    finally:
        os.close(fd)


def _hidden(spot: Spot) -> Spot:
    return spot.at(*spot.parts[:-1], HIDDEN + os.urandom(12).hex())


@contextmanager
def _hidden_directory(spot: Spot) -> Generator[Spot]:
    """A directory beside a spot that nobody sees; it is locked for as long as somebody works in it."""
    hidden = _hidden(spot)
    with spot_turns(spot):
        _sweep(spot)
        hidden.mkdir(parents=False)
        fd = hidden.open(os.O_RDONLY)
        _lock(fd)
    try:
        yield hidden
    finally:
        os.close(fd)
        with suppress(ToolError):
            remove(hidden)


def _sweep(spot: Spot) -> None:
    """Remove the hidden directories that killed processes left beside a spot."""
    parent = spot.at(*spot.parts[:-1])
    for name in parent.listdir():
        if name.startswith(HIDDEN):
            with suppress(ToolError):
                _remove_if_abandoned(parent.child(name))


def _remove_if_abandoned(spot: Spot) -> None:
    if not stat.S_ISDIR(spot.lstat().st_mode):
        return
    fd = spot.open(os.O_RDONLY)
    try:
        if _lock(fd):
            remove(spot)
    finally:
        os.close(fd)


def _lock(fd: int) -> bool:
    """Lock an open directory; False if somebody holds it, or if that cannot be known."""
    try:
        import fcntl

        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (OSError, ImportError):
        return False
    return True
