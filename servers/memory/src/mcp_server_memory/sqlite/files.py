"""The files around a store: who uses it, what is set aside, what is kept as a backup. Knows nothing of tables."""

# Store files are named by the operator and may be anything; os.path keeps this import light.
# ruff: noqa: PTH103, PTH104, PTH108, PTH110, PTH116, PTH120

import os
import sqlite3
import time
from contextlib import suppress

from .trouble import Damaged

_PARTS = ("", "-wal", "-shm")


class Claim:
    """Says that this process uses the store, so that no other sets it aside meanwhile.

    A lock on a file of its own, because SQLite's locks are taken on the store and given back in between. Where the
    system has no such locks (Windows), an open file cannot be renamed, which comes to the same.
    """

    def __init__(self, store: str) -> None:
        self._fd = os.open(f"{store}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self._lock(exclusive=False)

    def alone(self) -> bool:
        """Try to become the only user; whoever fails has let go of the store, and says `share` again."""
        return self._lock(exclusive=True)

    def share(self) -> None:
        """Let others in again."""
        self._lock(exclusive=False)

    def release(self) -> None:
        """This process no longer uses the store."""
        with suppress(OSError):
            os.close(self._fd)

    def _lock(self, *, exclusive: bool) -> bool:
        try:
            import fcntl
        except ImportError:
            return True
        try:
            # Only while a damaged store is being set aside is there something to wait for.
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB if exclusive else fcntl.LOCK_SH)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True


def dated(store: str, word: str) -> str:
    """A name beside the store that says what it is and from when, and is not taken."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    name = path = f"{store}.{word}-{stamp}"
    number = 1
    while os.path.exists(path):
        number += 1
        path = f"{name}-{number}"
    return path


def create(store: str) -> None:
    """Make an empty file that only its owner can read, and the folders above it."""
    os.makedirs(os.path.dirname(store) or ".", mode=0o700, exist_ok=True)
    with suppress(FileExistsError):
        os.close(os.open(store, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        sync_folder(store)


def sync_folder(path: str) -> None:
    """Make the name of a file survive a power failure, where the system lets us."""
    with suppress(OSError):
        fd = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def set_aside(store: str) -> str:
    """Move a damaged store out of the way with everything that belongs to it; say where it is now."""
    target = dated(store, "damaged")
    try:
        for part in reversed(_PARTS):
            with suppress(FileNotFoundError):
                os.rename(store + part, target + part)
    except OSError as error:
        raise Damaged(f"it could not be set aside ({os.strerror(error.errno or 0)})") from None
    sync_folder(store)
    return target


def log_of(store: str) -> dict[str, tuple[int, int] | None]:
    """The files of the log, and which they are now."""
    return {part: identity(store + part) for part in _PARTS[1:]}


def leave_log(store: str, log: dict[str, tuple[int, int] | None]) -> None:
    """Move the log of a store that was replaced out of the way: SQLite would take it for the log of the new one."""
    target = dated(store, "replaced")
    for part, known in log.items():
        if known is None or identity(store + part) != known:
            continue
        with suppress(OSError):
            if part == "-shm":  # says where in the log what is, and is made anew
                os.unlink(store + part)
            else:
                os.rename(store + part, target + part)


def backup(connection: sqlite3.Connection, store: str, version: int) -> str:
    """Copy the store as it is now into a dated file beside it."""
    target = dated(store, f"backup-v{version}")
    os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    copy = sqlite3.connect(target)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    sync_folder(store)
    return target


def identity(store: str) -> tuple[int, int] | None:
    """Which file a path means now."""
    try:
        found = os.stat(store)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def size(path: str) -> int:
    """How long a file is; 0 when there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
