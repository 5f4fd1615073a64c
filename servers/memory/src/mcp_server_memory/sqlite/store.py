"""The store as the graph sees it: jobs go to worker threads, and writes that wait are committed together.

Each commit waits for the disk. Fifty writes at once would wait fifty times; those that arrive while a commit is under
way go into the next one together, and are answered together.
"""

import logging
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TypeVar

import anyio
from anyio import to_thread

from ..store import Draft, GraphError, Reader, Source, Written
from .connections import Stop
from .database import Database, Job, Outcome
from .reading import SqliteReader
from .schema import MIGRATIONS, Migration
from .upkeep import COMMITS, LOG_COMMITS

_log = logging.getLogger("mcp_server_memory")
T = TypeVar("T")
_LARGEST_BATCH = 64
_IDLE = 0.05  # seconds without a write after which the index is tidied
_GLANCE = 0.25  # seconds between two looks for changes of other processes
_READERS = 8


class _Waiting:
    """A write on its way."""

    __slots__ = ("done", "job", "outcome")

    def __init__(self, job: Job) -> None:
        self.job = job
        self.done = anyio.Event()
        self.outcome = Outcome(error=GraphError("The server is shutting down. Nothing was changed."))


class SqliteStore:
    """A graph in one SQLite file."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: list[_Waiting] = []
        self._wake = anyio.Event()
        self._committed = anyio.Event()
        self._readers = anyio.CapacityLimiter(_READERS)
        self._log_is_long = anyio.Event()
        self._commits = 0
        self._opened = anyio.Event()
        self._closed = False
        self._seen: int | None = None
        self._listening = False

    async def read(self, job: Callable[[Reader], T]) -> T:
        stop = Stop()
        try:
            return await to_thread.run_sync(
                self._database.read, job, stop, abandon_on_cancel=True, limiter=self._readers
            )
        finally:
            stop.now()  # when nobody waits for the answer any more

    async def write(self, job: Callable[[Draft], T], source: Source) -> Written[T]:
        waiting = _Waiting(Job(job, source))
        if not self._closed:
            self._queue.append(waiting)
            self._wake.set()
            try:
                await waiting.done.wait()
            except BaseException:
                if waiting in self._queue:
                    self._queue.remove(waiting)
                raise
        if waiting.outcome.error is not None:
            raise waiting.outcome.error
        return Written(waiting.outcome.result, waiting.outcome.change)

    async def changed_names(self) -> frozenset[str]:
        # From here on our own commits are news; what others did since the last look is told at once.
        first, self._listening = not self._listening, True
        await self._opened.wait()
        if not first:
            with anyio.move_on_after(_GLANCE):
                await self._committed.wait()
        self._committed = anyio.Event()
        try:
            return await self._look()
        except (GraphError, sqlite3.Error) as error:
            # Whoever reads or writes is told; here it is tried again.
            _log.debug("changes could not be read: %s", error)
            return frozenset()

    async def _look(self) -> frozenset[str]:
        self._seen, names = await to_thread.run_sync(
            self._database.read, partial(_changes, self._seen), limiter=self._readers
        )
        return names

    def stop_listening(self) -> None:
        """Nobody wants to know of changes for now; our own are not news later."""
        self._listening = False

    # --- the writing task ----------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Commit what is waiting, again and again; tidy up when nothing is."""
        await self._open()
        pause: float | None = _IDLE
        while True:
            if not self._queue:
                with anyio.move_on_after(pause):
                    await self._wake.wait()
            self._wake = anyio.Event()
            batch, self._queue = self._queue[:_LARGEST_BATCH], self._queue[_LARGEST_BATCH:]
            if batch:
                pause = _IDLE
                await self._commit(batch)
                await self._keep_up()
            else:
                pause = 0 if await self._merge() else None

    async def _keep_up(self) -> None:
        """What cannot wait for a pause when there is none for a long time."""
        self._commits += 1
        if self._commits % COMMITS == 0:
            await self._merge()
        if self._commits % LOG_COMMITS == 0:
            self._log_is_long.set()

    async def _commit(self, batch: Sequence[_Waiting]) -> None:
        outcomes: Sequence[Outcome] = []
        # Shielded: a commit that has begun is finished, and whoever waits for it is told.
        with anyio.CancelScope(shield=True):
            try:
                outcomes = await to_thread.run_sync(self._database.write, [one.job for one in batch])
            except Exception as error:  # noqa: BLE001 - a mistake of ours must not stop all later writes
                _log.exception("a write failed")
                outcomes = [Outcome(error=error)] * len(batch)
        for waiting, outcome in zip(batch, outcomes, strict=True):
            waiting.outcome = outcome
            waiting.done.set()
        self._note(outcomes)

    def _note(self, outcomes: Sequence[Outcome]) -> None:
        numbers = [outcome.change for outcome in outcomes if outcome.change is not None]
        if not numbers:
            return
        if self._listening:
            self._committed.set()
        elif self._seen == min(numbers) - 1:
            self._seen = max(numbers)

    async def _merge(self) -> bool:
        """A step of merging the index; whether there is more to do."""
        try:
            more = await to_thread.run_sync(self._database.merge_index)
        except (GraphError, sqlite3.Error, OSError) as error:  # tried again after the next write
            _log.debug("the index was not merged: %s", error)
            return False
        if not more:
            self._log_is_long.set()
        return more

    async def move_log(self) -> None:
        """Move the log into the store whenever it is due. Beside the writes: it keeps nobody waiting."""
        while True:
            await self._log_is_long.wait()
            self._log_is_long = anyio.Event()
            try:
                await to_thread.run_sync(self._database.move_log)
            except (GraphError, sqlite3.Error, OSError) as error:
                _log.debug("the log was not moved: %s", error)

    async def _open(self) -> None:
        """Open the store before anyone asks, and remember where its changes stand. Trouble is told when somebody asks."""
        try:
            await self._look()
        except (GraphError, sqlite3.Error, OSError) as error:
            _log.error("the memory could not be opened: %s", error)
        finally:
            self._opened.set()

    async def look_for_damage(self) -> None:
        """Look through the whole store in the background."""
        try:
            await to_thread.run_sync(self._database.look_for_damage, abandon_on_cancel=True)
        except (GraphError, sqlite3.Error, OSError) as error:
            _log.error("the memory could not be checked: %s", error)

    def refuse(self) -> None:
        """No more writes: those still waiting are told so."""
        self._closed = True
        for waiting in self._queue:
            waiting.done.set()
        self._queue = []


def _changes(seen: int | None, reader: SqliteReader) -> tuple[int, frozenset[str]]:
    """The number of the last change, and the names touched since the one that was seen."""
    last = reader.last_change()
    if seen is None or last == seen:
        return last, frozenset()
    return last, reader.touched(seen if seen < last else 0)


@asynccontextmanager
async def open_sqlite(
    path: str, *, imports: Sequence[str] = (), migrations: Sequence[Migration] = MIGRATIONS
) -> AsyncGenerator[SqliteStore]:
    """A store in this file, created when it is first used."""
    database = Database(path, imports=imports, migrations=migrations)
    store = SqliteStore(database)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.run)
            tasks.start_soon(store.move_log)
            tasks.start_soon(store.look_for_damage)
            try:
                yield store
            finally:
                store.refuse()
                tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(database.close)
