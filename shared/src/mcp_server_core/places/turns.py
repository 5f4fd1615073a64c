"""One writer at a time: threads of this process and other processes of ours take turns in a directory.

Every write of replace.py takes a turn. Who reads, changes and writes back holds one around all three, and no
change gets lost. The lock is the directory itself (flock), so that nothing is left behind.
"""

import errno
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from mcp_server_core.errors import ToolError
from mcp_server_core.places.handles import Identity
from mcp_server_core.places.landing import HandleLanding, Landing
from mcp_server_core.places.refusals import shown
from mcp_server_core.places.spot import Spot

PATIENCE = 10.0
_PAUSE = 0.002
_NO_LOCKS = {errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS, errno.EACCES, errno.EPERM}


class _Turn:
    """The lock of one directory. The same thread may take it again."""

    __slots__ = ("__weakref__", "depth", "fd", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.depth = 0
        self.fd: int | None = None


_turns: WeakValueDictionary[Identity, _Turn] = WeakValueDictionary()
_guard = threading.Lock()


@contextmanager
def turn(spot: Spot, *, patience: float = PATIENCE) -> Generator[None]:
    """Keep other writers out of the directory that holds the spot, as long as the block runs.

    Waits for at most `patience` seconds; the same thread may nest it.
    """
    landing = spot.landing(follow=True)
    with spot.explained():
        identity = next(landing.lineage())
    with _guard:
        mine = _turns.setdefault(identity, _Turn())
    deadline = time.monotonic() + patience
    if not mine.lock.acquire(timeout=patience):
        raise _busy(spot)
    try:
        if mine.depth == 0:
            with spot.explained():
                mine.fd = _lock(landing, deadline, spot)
        mine.depth += 1
        try:
            yield
        finally:
            mine.depth -= 1
            if mine.depth == 0 and mine.fd is not None:
                os.close(mine.fd)  # which unlocks
                mine.fd = None
    finally:
        mine.lock.release()


def _lock(landing: Landing, deadline: float, spot: Spot) -> int | None:
    """Lock the directory against other processes; None where the file system has no locks."""
    if not isinstance(landing, HandleLanding):
        return None
    try:
        fd = landing.open_directory()
    except PermissionError:  # may be entered, may not be read
        return None
    try:
        while not try_lock(fd):
            if time.monotonic() > deadline:
                raise _busy(spot)
            time.sleep(
                _PAUSE
            )  # flock has no time limit of its own, and a thread that waits cannot be cancelled
    except OSError as error:
        os.close(fd)
        if error.errno in _NO_LOCKS:
            return None
        raise
    except BaseException:
        os.close(fd)
        raise
    return fd


def try_lock(fd: int) -> bool:
    """Lock an open file or directory against others; False if somebody else holds it."""
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _busy(spot: Spot) -> ToolError:
    return ToolError(f"{shown(spot.given)} is being written by another program: try again in a moment.")
