"""What is done between writes, so that no write has to wait for it: merging the index, moving the log, looking for damage."""

import sqlite3
import time

from .trouble import Damaged

COMMITS = 8
"""Commits without a pause after which a step of merging is taken all the same."""
_PAGES = 16  # of an index in one step: two to four milliseconds, growing with the number of pieces
LOG_BYTES = 4_000_000
"""Length of the log from which it is worth moving into the store."""
LOG_COMMITS = 256
"""Commits without a pause after which the log is moved while others write."""
_DAY = 24 * 3600 * 1000


class Merging:
    """Every commit adds a piece to each index; this puts them together, a little at a time, one index after the other."""

    def __init__(self) -> None:
        self._unfinished = {"words": True, "parts": True}

    def step(self, connection: sqlite3.Connection) -> bool:
        """Take a step; whether there is more to do."""
        index = next(iter(self._unfinished))
        before = connection.total_changes
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', {_PAGES})")  # noqa: S608 - constants
        connection.execute("COMMIT")
        del self._unfinished[index]  # and to the end of the row
        self._unfinished[index] = connection.total_changes - before > 1  # as the documentation of FTS5 says
        return any(self._unfinished.values())

    def begin(self) -> None:
        """Something was written since."""
        self._unfinished = dict.fromkeys(self._unfinished, True)


def move_log(connection: sqlite3.Connection) -> None:
    """Move the log into the store, as far as nobody still reads it; the next write begins it anew."""
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def is_due(connection: sqlite3.Connection) -> bool:
    """Whether the store was not looked through for a day."""
    row = connection.execute("SELECT at FROM upkeep WHERE what = 'check'").fetchone()
    return row is None or row[0] < int(time.time() * 1000) - _DAY


def check(connection: sqlite3.Connection) -> None:
    """Look through the whole store; Damaged when something does not fit."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise Damaged("its pages do not fit together")


def note_check(connection: sqlite3.Connection) -> None:
    """Remember that the store was looked through."""
    connection.execute(
        "INSERT OR REPLACE INTO upkeep (what, at) VALUES ('check', ?)", (int(time.time() * 1000),)
    )
