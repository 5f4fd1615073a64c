"""The connections to one store file: one that writes, and some that read and wait for the next one who does."""

import sqlite3
from contextlib import suppress

from . import files

MOST_IDLE = 8


class Stop:
    """Lets somebody else end a read that takes long."""

    connection: sqlite3.Connection | None = None

    def now(self) -> None:
        """End it, if it is under way."""
        if self.connection is not None:
            with suppress(sqlite3.Error):
                self.connection.interrupt()


class Connections:
    """The connections to one file."""

    def __init__(self, path: str, writer: sqlite3.Connection) -> None:
        self.writer = writer
        self.identity = files.identity(path)
        self.log = files.log_of(path)
        self._readers: list[sqlite3.Connection] = []
        self._closed = False

    def take(self) -> sqlite3.Connection | None:
        """A reading connection that nobody uses."""
        with suppress(IndexError):
            return self._readers.pop()
        return None

    def give(self, reader: sqlite3.Connection) -> None:
        """Keep a reading connection for the next one."""
        if len(self._readers) >= MOST_IDLE:
            reader.close()
        else:
            self._readers.append(reader)
        if self._closed:
            self._close_readers()

    def close(self) -> None:
        """Give the file back; connections in use follow when they are done."""
        self._closed = True
        self._close_readers()
        self.writer.close()

    def _close_readers(self) -> None:
        while reader := self.take():
            reader.close()
