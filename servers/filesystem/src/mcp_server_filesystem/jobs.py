"""Long work in a thread, as whoever waits for it sees it: how far it is, and that it may stop."""

from time import monotonic

# Most clients give up after a minute: what was found by then is worth more than an error.
LONGEST = 45.0
MOST_ENTRIES = 2_000_000


class Stopped(Exception):
    """Nobody wants the outcome any more."""


class Job:
    """One piece of work. The worker counts, the waiter looks and may stop it."""

    __slots__ = ("_began", "count", "longest", "most", "stopped")

    def __init__(self, *, longest: float = LONGEST, most: int = MOST_ENTRIES) -> None:
        self.count = 0
        self.stopped = False
        self.longest = longest
        self.most = most
        self._began = monotonic()

    def step(self, count: int = 1) -> None:
        """So much more is done. Raises Stopped when nobody waits any more."""
        self.count += count
        if self.stopped:
            raise Stopped

    @property
    def exhausted(self) -> str:
        """Why to come back with what there is; empty as long as there is no reason."""
        if self.count >= self.most:
            return f"{self.most} entries were looked at"
        if monotonic() - self._began >= self.longest:
            return f"{self.longest:g} seconds have passed"
        return ""
