"""Writing a file so that it is always the old one or the new one.

The new content is written aside, flushed, given the old file's mode, owner and attributes, and takes its place in
one step. Where that would change what the file is (hard links, a foreign owner) or is not possible (a directory
that may not be written, a mounted file), the file is written in place with its old bytes kept aside.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, Literal, NamedTuple

from mcp_server_core.errors import ToolError
from mcp_server_core.places.draft import CHUNK, Draft, read_all, sweep, write_all
from mcp_server_core.places.landing import Landing
from mcp_server_core.places.refusals import Changed, Outside, Taken, shown
from mcp_server_core.places.spot import Spot
from mcp_server_core.places.turns import turn

Strategy = Literal["created", "replaced", "in place"]

_IN_MEMORY = 8 << 20  # larger contents wait in the system's temporary directory
_DIRECTORY_DENIES = {errno.EACCES, errno.EPERM, errno.EROFS}
_CANNOT_BE_RENAMED_OVER = {errno.EBUSY, errno.EACCES, errno.EPERM, errno.EXDEV}
_NOT_CARRIED_OVER = {"security.capability"}  # the kernel takes it away on any other write, too


class Written(NamedTuple):
    """What was done, and how many bytes the file has now."""

    strategy: Strategy
    size: int


class Stamp(NamedTuple):
    """Enough of a file's state to notice that somebody changed it."""

    device: int
    inode: int
    size: int
    modified_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> "Stamp":
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


class _Nature(NamedTuple):
    """What a file is besides its content."""

    found: os.stat_result
    attributes: dict[str, bytes]


class _Job(NamedTuple):
    """What every step of one write needs to know."""

    spot: Spot
    landing: Landing
    expected: str | Stamp | None
    durable: bool


def replace(
    spot: Spot,
    data: bytes | Iterable[bytes],
    *,
    expected: str | Stamp | None = None,
    durable: bool = True,
) -> Written:
    """Give the file this content, or leave it exactly as it was.

    `expected` is the SHA-256 (hex) or the Stamp of the content the caller saw: anything else there is Changed. A
    link is kept, and the file it leads to is written. Hold `turn(spot)` around reading and replacing.
    """
    with turn(spot), spot.explained():
        job = _Job(spot, spot.landing(write=True), expected, durable)
        sweep(job.landing)
        nature = _look(job)
        if nature is None:
            return _create(job, data)
        return _replace(job, nature, data)


def create_exclusive(
    spot: Spot, data: bytes | Iterable[bytes], *, mode: int = 0o666, durable: bool = True
) -> Written:
    """Make a new file with this content; Taken if there is anything of that name, a link included.

    As for any new file, `mode` is what the umask leaves of it, from the first byte on.
    """
    with turn(spot), spot.explained():
        landing = spot.landing(follow=False, write=True)
        with suppress(FileNotFoundError):
            landing.stat()
            raise _taken(spot)
        sweep(landing)
        try:
            return _publish(_Job(spot, landing, None, durable), data, mode)
        except FileExistsError:
            raise _taken(spot) from None


def _taken(spot: Spot) -> Taken:
    return Taken(f"{shown(spot.given)} exists already: choose another name.")


def _look(job: _Job) -> _Nature | None:
    """What the file is that stands there now; opening it also asks the system whether we may write it."""
    try:
        _check_kind(job.spot, job.landing.stat())
        try:
            fd = job.landing.open(os.O_WRONLY)
        except OSError as error:
            if error.errno != errno.ETXTBSY:  # a running program can be replaced, if not written
                raise
            fd = job.landing.open(os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        found = os.fstat(fd)
        _check_kind(job.spot, found)
        return _Nature(found, _attributes(fd))
    finally:
        os.close(fd)


def _attributes(fd: int) -> dict[str, bytes]:
    attributes: dict[str, bytes] = {}
    with suppress(OSError, AttributeError):  # no such thing on this file system, or on this system
        for name in os.listxattr(fd):
            if name not in _NOT_CARRIED_OVER:
                with suppress(OSError):
                    attributes[name] = os.getxattr(fd, name)
    return attributes


def _check_kind(spot: Spot, found: os.stat_result) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise ToolError(f"{shown(spot.given)} is a directory: name a file in it.")
    if stat.S_ISLNK(found.st_mode):
        raise Outside  # exchanged since it was resolved
    if not stat.S_ISREG(found.st_mode):
        raise ToolError(f"{shown(spot.given)} is not a regular file: only files can be written.")


def _create(job: _Job, data: bytes | Iterable[bytes]) -> Written:
    if job.expected is not None:
        raise _changed(job)
    try:
        return _publish(job, data)
    except FileExistsError:  # between our look and our link: ours is not lost, and neither is theirs
        raise Changed(
            f"{shown(job.spot.given)} was created by somebody else just now: look at it first."
        ) from None


def _publish(job: _Job, data: bytes | Iterable[bytes], mode: int = 0o666) -> Written:
    # 0666, so that the umask and the directory's default rights decide, as for any new file.
    with Draft(job.landing, mode) as draft:
        size = draft.fill(data)
        _flush(job, draft.fd)
        draft.put(overwrite=False)
    _flush_directory(job)
    return Written("created", size)


def _replace(job: _Job, nature: _Nature, data: bytes | Iterable[bytes]) -> Written:
    draft = _draft_like(job, nature)
    if draft is None:
        return _write_in_place(job, data)
    with draft:
        size = draft.fill(data)
        _dress(draft.fd, nature)
        _flush(job, draft.fd)
        _check_expected(job)
        try:
            draft.put(overwrite=True)
        except OSError as error:
            if error.errno not in _CANNOT_BE_RENAMED_OVER:
                raise
            return _write_in_place(job, draft.chunks())
    _flush_directory(job)
    return Written("replaced", size)


def _draft_like(job: _Job, nature: _Nature) -> Draft | None:
    """A draft that can become what the file is; None if only the file itself can."""
    if nature.found.st_nlink > 1:
        return None
    try:
        draft = Draft(job.landing, 0o600)
    except OSError as error:
        if error.errno not in _DIRECTORY_DENIES:
            raise
        return None
    now = os.fstat(draft.fd)
    if (now.st_uid, now.st_gid) != (nature.found.st_uid, nature.found.st_gid):
        try:
            os.fchown(draft.fd, nature.found.st_uid, nature.found.st_gid)
        except OSError:
            with draft:
                return None
    return draft


def _dress(fd: int, nature: _Nature) -> None:
    """Give a complete draft the mode and the attributes of the file it replaces."""
    if hasattr(os, "fchmod"):
        os.fchmod(fd, stat.S_IMODE(nature.found.st_mode))
    for name, value in nature.attributes.items():
        with suppress(OSError):
            os.setxattr(fd, name, value)


def _write_in_place(job: _Job, data: bytes | Iterable[bytes]) -> Written:
    from tempfile import SpooledTemporaryFile  # 10 ms, and rarely needed

    with SpooledTemporaryFile(_IN_MEMORY) as new, SpooledTemporaryFile(_IN_MEMORY) as kept:
        new.writelines((data,) if isinstance(data, bytes) else data)
        fd = job.landing.open(os.O_RDWR)
        try:
            _check_kind(job.spot, os.fstat(fd))
            kept.writelines(read_all(fd))
            _check_expected(job)
            try:
                size = _overwrite(fd, new)
                _flush(job, fd)
            except BaseException:
                _overwrite(fd, kept)
                _flush(job, fd)
                raise
        finally:
            os.close(fd)
    return Written("in place", size)


def _overwrite(fd: int, content: IO[bytes]) -> int:
    """Write over what is there and cut the rest off last: the old blocks stay ours, should the disk be full."""
    content.seek(0)
    os.lseek(fd, 0, os.SEEK_SET)
    size = write_all(fd, iter(lambda: content.read(CHUNK), b""))
    os.ftruncate(fd, size)
    return size


def _check_expected(job: _Job) -> None:
    match job.expected:
        case None:
            return
        case Stamp():
            same = Stamp.of(job.landing.stat()) == job.expected
        case digest:
            same = _sha256(job.landing) == digest.lower()
    if not same:
        raise _changed(job)


def _sha256(landing: Landing) -> str:
    from hashlib import sha256

    digest = sha256()
    fd = landing.open(os.O_RDONLY)
    try:
        for chunk in read_all(fd):
            digest.update(chunk)
    finally:
        os.close(fd)
    return digest.hexdigest()


def _changed(job: _Job) -> Changed:
    return Changed(
        f"{shown(job.spot.given)} has changed since it was read: read it again, then repeat the change."
    )


def _flush(job: _Job, fd: int) -> None:
    if job.durable:
        os.fsync(fd)


def _flush_directory(job: _Job) -> None:
    if job.durable:
        job.landing.sync()
