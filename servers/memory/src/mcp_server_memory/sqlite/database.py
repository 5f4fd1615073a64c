"""One store file, open: a connection that writes, a few that read, and what to do when the file is not there or broken.

Blocking; every method may be called from any thread. A file that was moved or replaced meanwhile is opened anew before
anything is written, because a write into a file that nobody can find any more would be lost.
"""

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

from ..store import GraphError, Source
from . import files, history, indexing, upkeep
from .connections import Connections, Stop
from .drafts import SqliteDraft
from .opening import PATIENCE, connect, open_store
from .reading import SqliteReader
from .salvage import salvage
from .schema import MIGRATIONS, Migration
from .takeover import take_over
from .trouble import Damaged, StoreError, explain, is_damage

log = logging.getLogger("mcp_server_memory")
T = TypeVar("T")


class Job(NamedTuple):
    """Work for one change."""

    work: Callable[[SqliteDraft], Any]
    source: Source


class Outcome(NamedTuple):
    """What came of a job: a result and the number of its change, or what went wrong."""

    result: Any = None
    change: int | None = None
    error: Exception | None = None


class Database:
    """A store file. Opened when it is first used, and again when it has to be."""

    def __init__(
        self,
        path: str,
        *,
        imports: Sequence[str] = (),
        migrations: Sequence[Migration] = MIGRATIONS,
        patience: float = PATIENCE,
    ) -> None:
        self.path = os.path.realpath(path)
        self._imports = imports
        self._migrations = migrations
        self._patience = patience
        self._turn = threading.RLock()  # who writes, opens or closes
        self._open: Connections | None = None
        self._merging = upkeep.Merging()
        self._claim: files.Claim | None = None

    # --- reading and writing -------------------------------------------------------------------------------------

    def read(self, work: Callable[[SqliteReader], T], stop: Stop | None = None) -> T:
        """Run a job that reads, on the state of one moment."""
        return self._mended(lambda: self._read(work, stop or Stop()))

    def write(self, jobs: Sequence[Job]) -> list[Outcome]:
        """Run jobs that write, in one transaction with one sync; one that fails does not spoil the others."""
        with self._turn:
            try:
                return self._mended(lambda: self._write(jobs))
            except (GraphError, sqlite3.Error) as error:
                if len(jobs) == 1 or not (isinstance(error, StoreError) and error.about_one_job):
                    return [Outcome(error=error)] * len(jobs)
            return [self.write([job])[0] for job in jobs]

    def _write(self, jobs: Sequence[Job]) -> list[Outcome]:
        writer = self._current().writer
        writer.execute("BEGIN IMMEDIATE")
        try:
            self._check_version(writer)
            rows: list[indexing.Row] = []
            outcomes = [_attempt(writer, job, rows) for job in jobs]
            indexing.insert(writer, rows)
            writer.execute("COMMIT")
        except BaseException:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        self._merging.begin()
        return outcomes

    def _check_version(self, writer: sqlite3.Connection) -> None:
        (version,) = writer.execute("PRAGMA user_version").fetchone()
        if version != self._migrations[-1].to:
            raise GraphError(
                "A newer version of this server has taken over the memory. Nothing was changed; restart this server."
            )

    def _read(self, work: Callable[[SqliteReader], T], stop: Stop) -> T:
        opened = self._current()
        reader = opened.take() or self._reader()
        try:
            stop.connection = reader
            reader.execute("BEGIN")
            try:
                return work(SqliteReader(reader))
            finally:
                if reader.in_transaction:
                    reader.execute("ROLLBACK")
        finally:
            stop.connection = None
            opened.give(reader)

    def _reader(self) -> sqlite3.Connection:
        return connect(self.path, patience=self._patience, reading=True)

    # --- between writes ------------------------------------------------------------------------------------------

    def merge_index(self) -> bool:
        """One step of merging the index; whether there is more to do."""
        with self._turn:
            return self._mended(lambda: self._merging.step(self._current().writer))

    def move_log(self) -> None:
        """Move the log into the store, while others may read and write."""
        if files.size(f"{self.path}-wal") < upkeep.LOG_BYTES:
            return
        reader = self._reader()
        try:
            upkeep.move_log(reader)
        finally:
            reader.close()

    def look_for_damage(self) -> None:
        """Look through the store, at most once a day; a damaged one is set aside."""
        if not self.read(lambda reader: upkeep.is_due(reader.connection)):
            return
        self.read(lambda reader: upkeep.check(reader.connection))
        with self._turn:
            upkeep.note_check(self._current().writer)

    # --- opening and mending -------------------------------------------------------------------------------------

    def _mended(self, work: Callable[[], T]) -> T:
        """Do something; if the store turns out to be damaged, set it aside and do it again."""
        try:
            return _explained(work)
        except Damaged as damage:
            found = damage
        try:
            _explained(partial(self._replace, found))
            return _explained(work)
        except Damaged as damage:
            raise GraphError(
                f"The memory is damaged ({damage}) and could not be repaired. Nothing was changed. Tell the user."
            ) from damage

    def _current(self) -> Connections:
        opened = self._open
        if opened is not None and opened.identity == files.identity(self.path):
            return opened
        with self._turn:
            if self._open is not None and self._open.identity != files.identity(self.path):
                log.warning("the store was moved or replaced; it is opened anew")
                replaced = self._open.log
                self.close()
                files.leave_log(self.path, replaced)
            if self._open is None:
                self._open = self._open_now()
            return self._open

    def _open_now(self) -> Connections:
        if self._claim is None:
            self._claim = self._stake()
        writer = open_store(self.path, self._migrations, self._patience)
        try:
            take_over(writer, self._imports)
            log.info("the memory is in %s", self.path)
            return Connections(self.path, writer)
        except BaseException:
            writer.close()
            raise

    def _stake(self) -> files.Claim:
        try:
            files.create(self.path)
            return files.Claim(self.path)
        except OSError as error:
            raise GraphError(
                f"The folder of the memory cannot be used ({os.strerror(error.errno or 0)}). "
                "Ask the user to check it, or to name another with --store."
            ) from None

    def _replace(self, damage: Damaged) -> None:
        """Set the damaged store aside, begin a new one with what can be read of the old, and say so."""
        with self._turn:
            found = files.identity(self.path)
            if self._open is not None and self._open.identity != found:
                return  # another thread was faster
            self._drop()
            assert self._claim is not None
            try:
                if self._claim.alone():
                    self._begin_anew(damage)
                    return
            finally:
                self._claim.share()
            if files.identity(self.path) == found:  # else another process was faster
                raise GraphError(
                    f"The memory is damaged ({damage}), and other programs are using it. Nothing was changed. "
                    "Ask the user to close the other programs, so that it can be set aside and repaired."
                )

    def _begin_anew(self, damage: Damaged) -> None:
        kept = files.set_aside(self.path)
        writer = open_store(self.path, self._migrations, self._patience)
        try:
            told = f"The memory was damaged ({damage}). The damaged file is kept as {os.path.basename(kept)}"  # noqa: PTH119
            try:
                found = salvage(kept, writer)
                told += ", and a new memory begun with what could be read of it: "
                told += f"{found[0]} entities, {found[1]} observations, {found[2]} relations. Tell the user."
            except (sqlite3.Error, OSError) as error:
                told += f", and an empty memory begun, because nothing could be read of it ({error}). Tell the user."
            log.error(told)
            history.add_notice(writer, told)
        finally:
            writer.close()

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def close(self) -> None:
        """Give everything back; the next use opens it again."""
        with self._turn:
            self._drop()
            if self._claim is not None:
                self._claim.release()
                self._claim = None


def _explained(work: Callable[[], T]) -> T:
    """Do something; what SQLite says about the store is said in words, or is Damaged."""
    try:
        return work()
    except sqlite3.Error as error:
        if is_damage(error):
            raise Damaged("it cannot be read") from error
        raise explain(error) or error from error


def _attempt(writer: sqlite3.Connection, job: Job, rows: list[indexing.Row]) -> Outcome:
    """One job inside the transaction; what it adds to the index goes into `rows`. What it refuses is its own outcome; what SQLite refuses is everybody's."""
    writer.execute("SAVEPOINT job")
    draft = SqliteDraft(writer, job.source)
    try:
        result = job.work(draft)
    except sqlite3.Error:
        raise
    except Exception as error:  # noqa: BLE001 - a refusal or a mistake of ours: both go to whoever asked
        writer.execute("ROLLBACK TO job")
        writer.execute("RELEASE job")
        return Outcome(error=error)
    writer.execute("RELEASE job")
    rows += draft.take_rows()
    return Outcome(result, draft.number)
