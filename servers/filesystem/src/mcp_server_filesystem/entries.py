"""One entry of a directory: how a file or a link is copied, how anything is removed, and who takes turns there.

Knows allowed places, no protocol.
"""

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager, suppress

from mcp_server_core import ToolError
from mcp_server_core.places import Changed, Spot, Stamp, Taken, create_exclusive, shown, turn

from .blocks import read_chunks
from .reading import opened

HIDDEN = ".mcp-tmp-"
"""How names begin that nobody is meant to see."""

Step = Callable[[], None]
"""Called for each piece of work that is done; raises when nobody waits for the outcome any more."""


def _go_on() -> None:
    """Tidying up is not stopped half-way."""


def remove(spot: Spot, step: Step = _go_on) -> None:
    """Delete a file, or a directory with all that is in it, for good."""
    landing = spot.landing(follow=False, write=True)
    with spot.explained():
        if not stat.S_ISDIR(landing.stat().st_mode):
            spot.unlink()
            return
    # No recursion: somebody else decides how deep it goes.
    pending = _emptied(spot, step)
    while pending:
        inner = _emptied(pending[-1], step)
        if inner:
            pending += inner
            continue
        done = pending.pop()
        with done.explained():
            done.landing(follow=False, write=True).rmdir()
    spot.rmdir()


def _emptied(spot: Spot, step: Step) -> list[Spot]:
    """Remove what is in a directory, but for directories: those are what comes back."""
    inner: list[Spot] = []
    for name in spot.listdir():
        step()
        entry = spot.child(name)
        landing = entry.landing(follow=False, write=True)
        with entry.explained():
            if stat.S_ISDIR(landing.stat().st_mode):
                inner.append(entry)
            else:
                landing.unlink()
    return inner


@contextmanager
def spot_turns(*spots: Spot) -> Generator[None]:
    """Take the turns of several directories, always in the same order: two moves never wait for each other."""
    entries = {_directory(spot): spot for spot in spots}
    with ExitStack() as stack:
        for identity in sorted(entries):
            stack.enter_context(turn(_beside(entries[identity])))
        yield


def _beside(spot: Spot) -> Spot:
    """A name in the same directory that is no link: a turn follows links, and here the link itself is moved."""
    return spot.at(*spot.parts[:-1], f"{HIDDEN}turn")


def _directory(spot: Spot) -> tuple[int, int]:
    landing = spot.landing(follow=False)
    with spot.explained():
        return next(landing.lineage())


def refuse_taken(spot: Spot) -> None:
    """Nothing may stand where something is to be put."""
    landing = spot.landing(follow=False, write=True)
    with suppress(FileNotFoundError):
        landing.stat()
        raise taken(spot)


def taken(spot: Spot) -> Taken:
    """The refusal to overwrite."""
    return Taken(f"{shown(spot.given)} exists already and is never overwritten: name a new path.")


def changed(spot: Spot) -> Changed:
    """The refusal of a copy that would be neither what was nor what is."""
    return Changed(f"{shown(spot.given)} changed while it was copied, so nothing was done: try again.")


def copy_file(source: Spot, destination: Spot, step: Step) -> os.stat_result:
    """Copy the content of a file, with no more rights than it had; what the file was."""
    with opened(source) as fd:
        found = os.fstat(fd)
        chunks = _counted(read_chunks(fd, found.st_size), step)
        create_exclusive(destination, chunks, mode=stat.S_IMODE(found.st_mode) & 0o777)
        if Stamp.of(os.fstat(fd)) != Stamp.of(found):
            remove(destination)
            raise changed(source)
        return found


def _counted(chunks: Iterator[bytes], step: Step) -> Iterator[bytes]:
    for chunk in chunks:
        step()
        yield chunk


def copy_faithfully(source: Spot, destination: Spot, found: os.stat_result, step: Step) -> None:
    """Copy a file or a link with all that belongs to it."""
    if stat.S_ISLNK(found.st_mode):
        copy_link(source, destination)
    else:
        dress(destination, copy_file(source, destination, step), source)


def copy_link(source: Spot, destination: Spot) -> None:
    """Make a link to the same target."""
    with ExitStack() as stack:
        here, name = source.open_parent()
        stack.callback(os.close, here)
        there, new_name = destination.open_parent(write=True)
        stack.callback(os.close, there)
        with destination.explained():
            os.symlink(os.readlink(name, dir_fd=here), new_name, dir_fd=there)


def dress(spot: Spot, found: os.stat_result, source: Spot | None = None) -> None:
    """Give a copy the owner, the mode, the attributes and the times of its original, as far as we may."""
    fd = spot.open(os.O_RDONLY)
    try:
        with suppress(OSError, AttributeError):
            os.fchown(fd, found.st_uid, found.st_gid)
        with spot.explained():
            if hasattr(os, "fchmod"):
                os.fchmod(fd, stat.S_IMODE(found.st_mode))
        if source is not None:
            _copy_attributes(source, fd)
        with suppress(OSError):
            os.utime(
                fd if os.utime in os.supports_fd else spot.path, ns=(found.st_atime_ns, found.st_mtime_ns)
            )
    finally:
        os.close(fd)


def _copy_attributes(source: Spot, fd: int) -> None:
    with suppress(OSError, AttributeError, ToolError), opened(source) as original:
        for name in os.listxattr(original):
            with suppress(OSError):
                os.setxattr(fd, name, os.getxattr(original, name))
