"""From a path to connections: created if missing, of the right kind, of today's version."""

import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence

from ..store import GraphError
from . import files
from .schema import APPLICATION, Migration
from .trouble import Damaged, code_of, is_damage

# ruff: noqa: PTH110, PTH113 - os.path keeps this import light

log = logging.getLogger("mcp_server_memory")
PATIENCE = 20.0
"""Seconds to wait for other processes before giving up."""


def connect(path: str, *, patience: float, reading: bool = False) -> sqlite3.Connection:
    """A connection that waits for others, syncs each commit, and lets no schema run code."""
    connection = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=patience
    )
    try:
        for setting in (
            # An acknowledged write is on the disk itself: in a WAL, FULL syncs each commit. fullfsync is what macOS
            # needs for that; elsewhere it does nothing.
            *("synchronous = FULL", "fullfsync = 1", "checkpoint_fullfsync = 1"),
            *("foreign_keys = ON", "trusted_schema = OFF", "temp_store = MEMORY"),
            # upkeep.py moves the log into the store between writes; this is for when it cannot keep up.
            *("cache_size = -8000", "wal_autocheckpoint = 20000", "journal_size_limit = 16000000"),
            *(("query_only = ON",) if reading else ()),
        ):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_store(path: str, migrations: Sequence[Migration], patience: float) -> sqlite3.Connection:
    """The writing connection of a store that is ready for use. Damaged when it is not what SQLite wrote."""
    deadline = time.monotonic() + patience
    while True:
        try:
            return _open(path, migrations, patience)
        except (
            UnicodeDecodeError
        ) as error:  # what SQLite says quotes the names of tables, and they are no text
            raise Damaged("its tables are not as they were made") from error
        except sqlite3.Error as error:
            if is_damage(error):
                raise Damaged("it is not a readable SQLite file") from error
            # Who creates the store holds it in a way that others cannot wait for.
            if code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _open(path: str, migrations: Sequence[Migration], patience: float) -> sqlite3.Connection:
    if os.path.exists(path) and not os.path.isfile(path):  # opening a pipe would wait for its other end
        raise GraphError(f"{path} is not a file. Ask the user to name another with --store.")
    try:
        files.create(path)
    except OSError as error:
        raise GraphError(
            f"The folder of the memory cannot be used ({os.strerror(error.errno or 0)}). "
            "Ask the user to check it, or to name another with --store."
        ) from None
    # The log first: whoever makes a new store writes into the store before there is a log.
    if files.size(f"{path}-wal") and not files.size(path):
        raise Damaged("it is empty, but its log is not")  # SQLite would throw the log away
    connection = connect(path, patience=patience)
    try:
        _check_kind(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        _migrate(connection, path, migrations)
        try:
            _look_around(connection)
        except sqlite3.Error as error:
            # A table that has another name or another column now: SQLite takes that for our mistake.
            if code_of(error) == sqlite3.SQLITE_ERROR:
                raise Damaged("its tables are not as they were made") from error
            raise
    except BaseException:
        connection.close()
        raise
    return connection


def _check_kind(connection: sqlite3.Connection) -> None:
    """Refuse other people's databases, untouched."""
    tables = _value(connection, "SELECT count(*) FROM sqlite_master")
    if tables and _value(connection, "PRAGMA application_id") != APPLICATION:
        raise GraphError(
            "The file is a database of another program, not a memory. Ask the user to name another with --store."
        )


def _migrate(connection: sqlite3.Connection, path: str, migrations: Sequence[Migration]) -> None:
    """Bring the store to today's version, after a backup; two processes that try at once do it once."""
    latest = migrations[-1].to
    version = _value(connection, "PRAGMA user_version")
    if version > latest:
        raise GraphError(
            f"The memory was written by a newer version of this server (store version {version}, this one knows "
            f"{latest}). Ask the user to update mcp-server-memory."
        )
    if version == latest:
        return
    if version:
        kept = files.backup(connection, path, version)
        log.warning("the store is brought to version %d; a backup is in %s", latest, kept)
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = _value(connection, "PRAGMA user_version")
        for migration in migrations:
            if migration.to > version:
                for statement in statements(migration.script):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {migration.to:d}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    files.sync_folder(path)


def _look_around(connection: sqlite3.Connection) -> None:
    """Touch the root of every table: cheap, and enough to notice a file that was cut off or overwritten."""
    for table in ("change", "name", "entity", "observation", "relation", "touched", "imported", "notice"):
        connection.execute(f"SELECT * FROM {table} LIMIT 1").fetchall()  # noqa: S608 - constants
    for index in ("words", "parts"):
        connection.execute(f"SELECT rowid FROM {index} WHERE {index} MATCH '\"aaa\"' LIMIT 1").fetchall()  # noqa: S608


def statements(script: str) -> Iterator[str]:
    """The statements of a script one by one: executescript would commit before the first."""
    gathered = ""
    for part in script.split(";"):
        gathered += f"{part};"
        if sqlite3.complete_statement(gathered):
            yield gathered
            gathered = ""


def _value(connection: sqlite3.Connection, sql: str) -> int:
    return connection.execute(sql).fetchone()[0]
