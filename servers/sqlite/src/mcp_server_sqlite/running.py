"""Statements that run, each call in a thread of its own from opening to closing: a query that never ends delays nobody
and takes no worker thread from others. It is stopped by its deadline, and as soon as nobody waits for it any more.
SQLite stops between two steps of its machine. One step can be long, such as instr() in a huge value: then its caller
has its answer without it, and what it does later is not committed.

A call changes threads once. aiosqlite changes them for each statement and starts a thread for each connection, which a
short call feels; it serves in changes.py, where a connection stays open.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import Any, TypeVar

from anyio import CancelScope, CapacityLimiter, to_thread

from .database import Opener
from .guard import READING, WRITING, Guard
from .problems import Problem, explain, timed_out
from .statement import Bound

T = TypeVar("T")
MAX_THREADS = 1024  # more than a client may have calls in flight: no call waits for a thread
MAX_STUCK = 8  # threads that nobody waits for and SQLite cannot stop: each takes a processor
_GRACE = 0.5  # seconds from the deadline until the caller is answered without the thread
_STEPS = 100_000  # of SQLite's machine, about a millisecond, between two looks at the clock
NO_VALUES: Bound = ()


class Session:
    """One connection, from opening to closing, and how long it may take. All of it blocks, but for `stop`."""

    def __init__(self, opener: Opener, seconds: float) -> None:
        self.opener = opener
        self.guard = Guard(WRITING if opener.write else READING)
        self.seconds = seconds
        self._connection: sqlite3.Connection | None = None
        self._over_since: float | None = None
        self._late = False
        self._committing = False

    def run(self, job: Callable[["Session"], T]) -> T:
        """Open, do the job, close. What is not committed then is rolled back."""
        try:
            self._demand_waiting()
            with self.explained():
                self._connection = self.opener.connect(self.guard)
            self._connection.set_progress_handler(self._is_over, _STEPS)
            return job(self)
        finally:
            # Nobody may stop a connection that is being closed.
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection itself; there is one while a job is done."""
        assert self._connection is not None
        return self._connection

    # --- statements ------------------------------------------------------------------------------------------------

    def execute(self, sql: str, values: Bound = NO_VALUES) -> sqlite3.Cursor:
        """Run the caller's statement, under the guard."""
        with self.explained():
            return self.connection.execute(sql, values)  # pyright: ignore[reportArgumentType] - bool and None too

    def all(self, sql: str, values: Bound = NO_VALUES) -> list[Any]:
        """Every row of a statement that has few."""
        with self.explained():
            return self.connection.execute(sql, values).fetchall()  # pyright: ignore[reportArgumentType]

    def command(self, sql: str) -> list[Any]:
        """Run a statement of this program, which the guard lets pass."""
        self.guard.ours = True
        try:
            return self.all(sql)
        finally:
            self.guard.ours = False

    def commit(self) -> None:
        """Commit, unless the time is up or nobody waits any more, for then it was or will be said that nothing changed."""
        self._committing = True  # before looking: whoever ends us looks the other way round
        self._demand_waiting()
        self.command("COMMIT")

    @contextmanager
    def explained(self) -> Generator[None]:
        """Put what SQLite says into words; a refusal of the guard says more than SQLite does."""
        try:
            yield
        except sqlite3.Error as error:
            if self._late:
                raise timed_out(self.seconds) from None
            raise self.guard.refusal or explain(error) from None
        except sqlite3.Warning:  # what Python 3.11 says to several statements
            raise Problem("Give exactly one statement: run the others in calls of their own.") from None
        except MemoryError:
            raise Problem("The query needs more memory than it may have: ask for less at once.") from None
        except (OverflowError, ValueError) as error:  # UnicodeEncodeError is one
            raise Problem(f"SQLite cannot take this query or one of its values: {error}.") from None

    # --- its end ---------------------------------------------------------------------------------------------------

    def _demand_waiting(self) -> None:
        if self._over_since is not None:
            raise timed_out(self.seconds) if self._late else Problem("Nobody waits for this query any more.")

    def _is_over(self) -> bool:
        # An interrupt that comes before a statement starts is lost. This is not.
        return self._over_since is not None

    def stop(self) -> None:
        """End whatever runs, at once; from any thread."""
        self._over_since = self._over_since or monotonic()
        connection = self._connection
        if connection is not None:
            try:
                connection.interrupt()
            except sqlite3.ProgrammingError:
                return  # it was closed in this very moment

    def expire(self) -> None:
        """The time is up."""
        self._late = True
        self.stop()

    @property
    def is_stuck(self) -> bool:
        """Whether SQLite has not stopped although it was told to."""
        return self._over_since is not None and monotonic() - self._over_since > _GRACE / 2

    @property
    def may_be_left(self) -> bool:
        """Whether it can be said already that nothing was changed."""
        return not self._committing


async def run(opener: Opener, seconds: float, job: Callable[[Session], T]) -> T:
    """Do a job with a database, in a thread. A cancelled caller leaves at once, and the job ends soon after."""
    _refuse_if_stuck()
    session = Session(opener, seconds)
    loop = asyncio.get_running_loop()
    waiting = CancelScope()

    def leave() -> None:
        if session.may_be_left:
            waiting.cancel()

    alarms = [loop.call_later(seconds, session.expire), loop.call_later(seconds + _GRACE, leave)]
    try:
        with waiting:
            work = partial(_work, session, job)
            return await to_thread.run_sync(work, abandon_on_cancel=True, limiter=_threads())
        raise timed_out(seconds)
    except BaseException:
        session.stop()
        raise
    finally:
        for alarm in alarms:
            alarm.cancel()


def _refuse_if_stuck() -> None:
    if len(_running) >= MAX_STUCK and sum(session.is_stuck for session in list(_running)) >= MAX_STUCK:
        raise Problem(
            f"{MAX_STUCK} queries that SQLite cannot stop are still running: wait, or restart the server."
        )


def _work(session: Session, job: Callable[[Session], T]) -> T:
    _running.add(session)  # here, because a caller can be cancelled before a thread begins
    try:
        return session.run(job)
    finally:
        _running.discard(session)


_running: set[Session] = set()
_limiters: dict[asyncio.AbstractEventLoop, CapacityLimiter] = {}


def _threads() -> CapacityLimiter:
    """The bound on threads; a limiter belongs to an event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _limiters:
        _limiters.clear()
        _limiters[loop] = CapacityLimiter(MAX_THREADS)
    return _limiters[loop]


def running() -> int:
    """How many connections are open at the moment."""
    return len(_running)


async def end_all(seconds: float) -> None:
    """Stop everything that still runs and wait a moment for it, before the process ends."""
    for session in list(_running):
        session.stop()
    until = monotonic() + seconds
    while _running and monotonic() < until:  # noqa: ASYNC110 - threads end here, which set no event of a loop
        await asyncio.sleep(0.01)
