"""What is done between writes, so that no write has to wait for it: merging the index, moving the log, looking for damage."""

import sqlite3
import time

from .trouble import Damaged

SMALL_STEP = 16
"""Pages of each index that are merged in one step while nobody writes: a few milliseconds."""
LARGE_STEP = 64
"""The same while others wait: each step costs something in itself, so fewer are better."""
MOST_PIECES = 1_000
"""Commits without a pause, each a piece of the index, after which merging does not wait for a pause any more."""
BETWEEN_STEPS = 8
"""Commits between two such steps."""
LOG_BYTES = 4_000_000
"""Length of the log from which it is worth moving into the store."""
LOG_COMMITS = 256
"""Commits without a pause after which the log is moved while others write."""
_DAY = 24 * 3600 * 1000


def merge_index(connection: sqlite3.Connection, pages: int) -> bool:
    """One step of merging; whether there is more to do."""
    more = False
    for index in ("words", "parts"):
        before = connection.total_changes
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', {pages:d})")  # noqa: S608 - constants
        connection.execute("COMMIT")
        more = more or connection.total_changes - before > 1  # as the documentation of FTS5 says
    return more


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
