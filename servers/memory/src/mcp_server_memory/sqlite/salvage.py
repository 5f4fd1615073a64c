"""Getting out of a damaged store what can still be read, into a new one."""

import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from . import indexing

_TABLES = {
    "change": "id, at, client, act, undoes, undone",
    "name": "id, text, key",
    "entity": "id, name, type, type_key, made, gone, back",
    "observation": "id, entity, text, sum, made, gone, back",
    "relation": "id, source, target, type, made, gone, back",
    "imported": "rowid, file, size, modified, at",
}
_BATCH = 100
# The statements below are put together from these constants alone.
# ruff: noqa: S608


def salvage(damaged: str, connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Copy every readable row into an empty store; count the entities, observations and relations that live.

    Works on a copy: looking into a store with an open log would change it.
    """
    copy = Path(f"{damaged}.copy")
    try:
        for part in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(damaged + part, f"{copy}{part}")
        with closing(sqlite3.connect(copy)) as source:
            source.text_factory = _decode
            _copy_rows(source, connection)
    finally:
        for part in ("", "-wal", "-shm"):
            Path(f"{copy}{part}").unlink(missing_ok=True)
    counts = (
        connection.execute(f"SELECT count(*) FROM {table} WHERE gone IS NULL").fetchone()[0]
        for table in ("entity", "observation", "relation")
    )
    return next(counts), next(counts), next(counts)


def _decode(raw: bytes) -> str:
    return raw.decode(errors="replace")


def _copy_rows(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    target.execute("PRAGMA foreign_keys = OFF")  # rows arrive in any order; what they miss is mended below
    target.execute("BEGIN IMMEDIATE")
    try:
        for table, columns in _TABLES.items():
            marks = ", ".join("?" * len(columns.split(",")))
            for row in _rows(source, table, columns):
                target.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", row)
        _mend(target)
        _index(target)
        target.execute("COMMIT")
    except BaseException:
        if target.in_transaction:
            target.execute("ROLLBACK")
        raise
    finally:
        target.execute("PRAGMA foreign_keys = ON")


def _rows(source: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """The rows before the damage, then those behind it from the end backwards."""
    last = yield from _until_damage(source, table, columns, 0, "ASC")
    if last is not None:
        yield from _until_damage(source, table, columns, last, "DESC")


def _until_damage(
    source: sqlite3.Connection, table: str, columns: str, bound: int, order: str
) -> Generator[tuple[Any, ...], None, int | None]:
    """Rows in one direction; returns the last id before the damage, or None when there was none."""
    last = bound if order == "ASC" else 1 << 62
    first = columns.partition(",")[0]
    limits = f"{first} > {bound} AND {first} < ?" if order == "DESC" else f"{first} > ?"
    batch = _BATCH
    while True:
        try:
            rows = source.execute(
                f"SELECT {columns} FROM {table} WHERE {limits} ORDER BY {first} {order} LIMIT {batch}",
                (last,),
            ).fetchall()
        except sqlite3.DatabaseError:
            if batch == 1:
                return last
            batch = 1
            continue
        if not rows:
            return None
        yield from rows
        last = rows[-1][0]


def _mend(target: sqlite3.Connection) -> None:
    """Give rows back what they refer to, where that can be; leave out what hangs in the air."""
    for table in ("entity", "observation", "relation"):
        for column in ("made", "gone", "back"):
            target.execute(
                f"INSERT OR IGNORE INTO change (id, at, client, act) SELECT DISTINCT {column}, 0, 'unknown', 'recovered'"
                f" FROM {table} WHERE {column} IS NOT NULL"
            )
    target.execute("UPDATE change SET undoes = NULL WHERE undoes NOT IN (SELECT id FROM change)")
    target.execute("UPDATE change SET undone = NULL WHERE undone NOT IN (SELECT id FROM change)")
    target.execute("DELETE FROM entity WHERE name NOT IN (SELECT id FROM name)")
    target.execute("DELETE FROM observation WHERE entity NOT IN (SELECT id FROM entity)")
    for end in ("source", "target"):
        target.execute(f"DELETE FROM relation WHERE {end} NOT IN (SELECT id FROM name)")


def _index(target: sqlite3.Connection) -> None:
    labels: dict[int, indexing.Label] = {}
    rows: list[indexing.Row] = []
    for entity, name, kind in target.execute(
        "SELECT entity.id, name.text, entity.type FROM entity JOIN name ON name.id = entity.name"
    ):
        labels[entity] = indexing.label(name, kind)
        rows.append(indexing.of_entity(entity, name, kind))
    for number, entity, text in target.execute("SELECT id, entity, text FROM observation"):
        rows.append(indexing.of_observation(number, labels[entity], text))
    indexing.insert(target, rows)
