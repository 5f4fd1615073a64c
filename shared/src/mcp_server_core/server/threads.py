"""Worker threads for blocking work: a bounded number, also when their callers have given up on them."""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
from anyio import from_thread, to_thread

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
MAX_THREADS = 16


class Threads:
    """A bounded pool. A cancelled caller leaves at once; its thread keeps its place until it is done."""

    __slots__ = ("_count", "_places", "_unbounded")

    def __init__(self, count: int = MAX_THREADS) -> None:
        self._count = count
        self._places: anyio.CapacityLimiter | None = None
        self._unbounded: anyio.CapacityLimiter | None = None

    async def run(self, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Run blocking work and wait for it."""
        if self._places is None or self._unbounded is None:
            # A limiter belongs to an event loop, which does not exist yet when a server is built.
            self._places = anyio.CapacityLimiter(self._count)
            self._unbounded = anyio.CapacityLimiter(self._count * 4)
        places, borrower = self._places, object()
        try:
            places.acquire_on_behalf_of_nowait(borrower)
        except anyio.WouldBlock:
            await places.acquire_on_behalf_of(borrower)
        # What is taken out of a list by one thread is gone for the other: so the two agree without a lock.
        unclaimed, unfinished = [borrower], [borrower]

        results: list[T] = []
        failures: list[BaseException] = []

        def work() -> None:
            unclaimed.pop()
            try:
                results.append(function(*args))
            except BaseException as error:  # noqa: BLE001
                # Raised below, out of the library's sight: in its hands a failure and the frames of the thread, with
                # all that they hold open, keep one another alive until the garbage is collected.
                failures.append(error)
            finally:
                try:
                    unfinished.pop()
                except IndexError:
                    # Nobody waits any more to give the place back. When the event loop is gone, so are the places.
                    with suppress(RuntimeError):
                        from_thread.run_sync(places.release_on_behalf_of, borrower)

        try:
            await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._unbounded)
        finally:
            # Cancelled before a thread began, it never will, for its work is gone; else the thread has to be done.
            if _took(unclaimed) or not _took(unfinished):
                places.release_on_behalf_of(borrower)
        if failures:
            raise failures.pop()
        return results.pop()


def _took(marks: list[object]) -> bool:
    try:
        marks.pop()
    except IndexError:
        return False
    return True
