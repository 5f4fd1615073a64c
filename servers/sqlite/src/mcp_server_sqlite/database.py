"""One database file inside an allowed place: opened so that what SQLite opens is what was allowed.

SQLite opens by path and resolves links itself, so a path that was checked can lead elsewhere a moment later. Hence
the object is looked up beneath its place's handle first, and SQLite's new descriptor is held against it afterwards.
This module never opens and closes a database file itself while SQLite may use it: that would drop SQLite's locks.
Everything here blocks.
"""

# Descriptors and paths that SQLite wants as text.
# ruff: noqa: PTH116, PTH208

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from mcp_server_core.places import Identity, Missing, Spot

from .guard import Guard, settle
from .problems import Problem

BUSY_SECONDS = 5.0
_TRIES = 3
# A clock tick of the file system: two changes within one leave the same time on a file.
_TICK_NS = 25_000_000
_DESCRIPTORS = next((path for path in ("/proc/self/fd", "/dev/fd") if os.path.isdir(path)), None)  # noqa: PTH112
_opening = threading.Lock()


class Stamp(NamedTuple):
    """What tells two states of a database file apart, from any process: identity, sizes and times."""

    facts: tuple[int, ...]
    settled: bool  # old enough that a later change cannot carry the same time


class Opener:
    """Opens one database once, for reading or for writing."""

    def __init__(self, locate: Callable[[], Spot], *, write: bool = False, create: bool = False) -> None:
        """`create` lets a file that is missing be created, and read as empty before."""
        self._locate = locate
        self.write = write
        self.missing = False
        """The file does not exist: what was opened is an empty database in memory."""
        self.stamp = Stamp((), True)
        self._create = create
        self._journal = False  # there is one: of a writer at work, or of one that crashed

    @cached_property
    def spot(self) -> Spot:
        """Where the file is."""
        return self._locate()

    def connect(self, guard: Guard) -> sqlite3.Connection:
        """A connection with every safety on."""
        connection = self._open()
        try:
            settle(connection, write=self.write)
            connection.set_authorizer(guard)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> sqlite3.Connection:
        for _ in range(_TRIES):
            try:
                expected = self._look()
            except Missing:
                if not self._may_write:
                    raise
                self.missing = True
                return _connect("file::memory:?mode=memory")
            if expected and self._journal and self._may_write and not self.write:
                self._roll_back(expected)
                expected = self._look()
            connection = self._open_as(expected, write=self.write) if expected else None
            if connection is not None:
                return connection
        raise Problem(f"{self.spot.name} was exchanged while it was opened: try again.")

    @property
    def _may_write(self) -> bool:
        return self._create and self.spot.place.writable

    def _roll_back(self, expected: Identity) -> None:
        """Let SQLite undo what a crashed writer left half done, which a reader has no right to. Nothing is done to the
        journal of a writer at work.
        """
        connection = self._open_as(expected, write=True)
        if connection is not None:
            with closing(connection), suppress(sqlite3.Error):  # the reader will be told
                settle(connection, write=True)
                connection.execute("PRAGMA schema_version").fetchall()

    def _look(self) -> Identity | None:
        """The file as it is now, beneath its place; None while it is being exchanged."""
        landing = self.spot.landing(write=self.write)  # refuses to write where only reading is allowed
        with self.spot.explained():
            found = landing.stat()
        if stat.S_ISLNK(found.st_mode):
            return None
        if not stat.S_ISREG(found.st_mode):
            raise Problem(f"{self.spot.name} is not a file: name a database file.")
        log = None
        with suppress(OSError):
            log = landing.sibling(f"{landing.name}-wal").stat()
        self._journal = False
        with suppress(OSError):
            self._journal = landing.sibling(f"{landing.name}-journal").stat().st_size > 0
        self.stamp = _stamp(found, log)
        return Identity(found.st_dev, found.st_ino)

    def _open_as(self, expected: Identity, *, write: bool) -> sqlite3.Connection | None:
        """A connection to exactly this file, or None when something else was opened."""
        path = os.path.realpath(self.spot.path)
        uri = f"{Path(path).as_uri()}?mode={'rw' if write else 'ro'}"
        with _opening:  # one at a time, so that new descriptors can be told
            before = _descriptors()
            connection = _connect(uri)
            opened = _identities(_descriptors() - before)
            # SQLite takes up a descriptor again that it could not close; then there is no new one.
            if _DESCRIPTORS and not opened:
                opened = _identities(before) & {expected}
        if not _DESCRIPTORS:  # Windows: an open file cannot be exchanged
            found = os.stat(path)
            opened = {Identity(found.st_dev, found.st_ino)}
        if expected in opened:
            return connection
        connection.close()
        return None

    def create(self) -> None:
        """Make the empty file, beneath its place; SQLite never makes one by its path."""
        with _opening, self.spot.explained(), suppress(FileExistsError):
            landing = self.spot.landing(write=True)
            os.close(landing.open(os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
            landing.sync()
        self.missing = False


def _connect(uri: str) -> sqlite3.Connection:
    # Closed by whoever stops the query, in a thread that need not be the one that opened it.
    return sqlite3.connect(
        uri,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=0,
    )


def _descriptors() -> set[str]:
    return set(os.listdir(_DESCRIPTORS)) if _DESCRIPTORS else set()


def _identities(descriptors: set[str]) -> set[Identity]:
    """The regular files behind descriptors; some may be closed by now."""
    found: set[Identity] = set()
    for number in descriptors:
        with suppress(OSError):
            known = os.fstat(int(number))
            if stat.S_ISREG(known.st_mode):
                found.add(Identity(known.st_dev, known.st_ino))
    return found


def _stamp(found: os.stat_result, log: os.stat_result | None) -> Stamp:
    files = [found, log] if log and log.st_size else [found]  # an empty log appears with the first reader
    facts = tuple(fact for file in files for fact in (file.st_ino, file.st_size, file.st_mtime_ns))
    latest = max(file.st_mtime_ns for file in files)
    return Stamp(facts, settled=abs(time.time_ns() - latest) > _TICK_NS)
