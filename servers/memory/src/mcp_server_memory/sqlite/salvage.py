"""Getting out of a damaged store what can still be read, into a new one."""

import sqlite3
from itertools import islice

from ..folding import fold
from . import indexing
from .drafts import checksum
from .leaves import rows

# The columns of each table, and what their values are (see leaves.py).
_TABLES = {
    "change": ("id, at, client, act, undoes, undone", "kittnn"),
    "name": ("id, text, key", "ktt"),
    "entity": ("id, name, type, type_key, made, gone, back", "kittinn"),
    "observation": ("id, entity, text, sum, made, gone, back", "kitiinn"),
    "relation": ("id, source, target, type, made, gone, back", "kiitinn"),
    "imported": ("file, size, modified, at", "tiii"),
}
_BATCH = 1_000
# The statements below are put together from these constants alone.
# ruff: noqa: S608


def salvage(damaged: str, connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Copy every readable row into an empty store; count the entities, observations and relations that live."""
    connection.execute(
        "PRAGMA foreign_keys = OFF"
    )  # rows arrive in any order; what they miss is mended below
    connection.execute("BEGIN IMMEDIATE")
    try:
        _copy_rows(damaged, connection)
        _mend(connection)
        _index(connection)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    finally:
        connection.execute("PRAGMA foreign_keys = ON")
    counts = (
        connection.execute(f"SELECT count(*) FROM {table} WHERE gone IS NULL").fetchone()[0]
        for table in ("entity", "observation", "relation")
    )
    return next(counts), next(counts), next(counts)


def _copy_rows(damaged: str, target: sqlite3.Connection) -> None:
    inserts = {
        table: f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({', '.join('?' * len(kinds))})"
        for table, (columns, kinds) in _TABLES.items()
    }
    found = rows(damaged, {table: kinds for table, (_, kinds) in _TABLES.items()})
    while batch := list(islice(found, _BATCH)):
        for table, insert in inserts.items():
            target.executemany(insert, [row for of, row in batch if of == table])


def _mend(target: sqlite3.Connection) -> None:
    """Give rows back what they refer to, where that can be; name what lost its name."""
    for table in ("entity", "observation", "relation"):
        for column in ("made", "gone", "back"):
            target.execute(
                f"INSERT OR IGNORE INTO change (id, at, client, act) SELECT DISTINCT {column}, 0, 'unknown', 'recovered'"
                f" FROM {table} WHERE {column} IS NOT NULL"
            )
    target.execute("UPDATE change SET undoes = NULL WHERE undoes NOT IN (SELECT id FROM change)")
    target.execute("UPDATE change SET undone = NULL WHERE undone NOT IN (SELECT id FROM change)")
    _name_what_has_no_name(target)
    _mend_touched(target)


def _name_what_has_no_name(target: sqlite3.Connection) -> None:
    """Facts whose entity or name was hit are still facts: they get an entity or a name that says so."""
    orphans = "SELECT entity, min(made) FROM observation WHERE entity NOT IN (SELECT id FROM entity) GROUP BY entity"
    for entity, made in target.execute(orphans).fetchall():
        name = _new_name(target, f"recovered entity {entity}")
        target.execute(
            "INSERT INTO entity (id, name, type, type_key, made) VALUES (?, ?, 'recovered', 'recovered', ?)",
            (entity, name, made),
        )
    used = "SELECT name FROM entity UNION SELECT source FROM relation UNION SELECT target FROM relation"
    for (number,) in target.execute(f"SELECT * FROM ({used}) EXCEPT SELECT id FROM name").fetchall():
        _new_name(target, f"recovered name {number}", number)


def _new_name(target: sqlite3.Connection, text: str, number: int | None = None) -> int:
    while target.execute("SELECT 1 FROM name WHERE text = ?", (text,)).fetchone():
        text += "'"
    made = target.execute("INSERT INTO name (id, text, key) VALUES (?, ?, ?)", (number, text, fold(text)))
    assert made.lastrowid is not None
    return made.lastrowid


def _mend_touched(target: sqlite3.Connection) -> None:
    """Which names a change touched follows from the rows that name the change."""
    for column in ("made", "gone", "back"):
        for named in (
            f"SELECT {column}, name FROM entity",
            f"SELECT observation.{column}, name FROM observation JOIN entity ON entity.id = observation.entity",
            f"SELECT {column}, source FROM relation",
            f"SELECT {column}, target FROM relation",
        ):
            target.execute(
                f"INSERT OR IGNORE INTO touched (change, name) SELECT * FROM ({named}) WHERE {column} IS NOT NULL"
            )


def _index(target: sqlite3.Connection) -> None:
    labels: dict[int, indexing.Label] = {}
    gathered: list[indexing.Row] = []
    for entity, name, kind in target.execute(
        "SELECT entity.id, name.text, entity.type FROM entity JOIN name ON name.id = entity.name"
    ):
        labels[entity] = indexing.label(name, kind)
        gathered.append(indexing.of_entity(entity, name, kind))
    for number, entity, text, sum_ in target.execute(
        "SELECT id, entity, text, sum FROM observation"
    ).fetchall():
        gathered.append(indexing.of_observation(number, labels[entity], text))
        if sum_ != checksum(text):  # the text itself was hit; it must still be found when somebody deletes it
            target.execute("UPDATE observation SET sum = ? WHERE id = ?", (checksum(text), number))
    indexing.insert(target, gathered)
