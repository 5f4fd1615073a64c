"""When and by which client something was learned or taken out, and what happened to the store itself."""

import sqlite3
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from ..shapes import Learned, Removed

_WEEK = 7 * 24 * 3600 * 1000


def moment(milliseconds: int) -> str:
    """A time as people and models read it."""
    when = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _learned(at: int, client: str, number: int) -> Learned:
    return Learned(moment(at), client, number)


def created(connection: sqlite3.Connection, entity: int) -> Learned:
    """The change that made an entity."""
    row = connection.execute(
        "SELECT at, client, change.id FROM entity JOIN change ON change.id = entity.made WHERE entity.id = ?",
        (entity,),
    ).fetchone()
    return _learned(*row)


def learned(connection: sqlite3.Connection, observations: Sequence[int]) -> list[Learned]:
    """The changes that made these observations, one for each."""
    return [
        _learned(*row)
        for number in observations
        for row in connection.execute(
            "SELECT at, client, change.id FROM observation JOIN change ON change.id = observation.made"
            " WHERE observation.id = ?",
            (number,),
        )
    ]


def removed(connection: sqlite3.Connection, entity: int, limit: int) -> list[Removed]:
    """The observations of an entity that are there no more, the newest removal first."""
    rows = connection.execute(
        "SELECT text, a.at, a.client, a.id, b.at, b.client, b.id FROM observation"
        " JOIN change AS a ON a.id = made JOIN change AS b ON b.id = gone"
        " WHERE entity = ? AND gone IS NOT NULL ORDER BY gone DESC, observation.id DESC LIMIT ?",
        (entity, limit),
    )
    return [Removed(row[0], _learned(*row[1:4]), _learned(*row[4:7])) for row in rows]


def deleted(connection: sqlite3.Connection, name: str) -> Learned | None:
    """The change that took out the last entity of this name."""
    row = connection.execute(
        "SELECT at, client, change.id FROM name JOIN entity ON entity.name = name.id"
        " JOIN change ON change.id = entity.gone WHERE name.text = ? ORDER BY entity.gone DESC LIMIT 1",
        (name,),
    ).fetchone()
    return None if row is None else _learned(*row)


def notices(connection: sqlite3.Connection) -> list[str]:
    """What happened to the store within the last week."""
    since = int(time.time() * 1000) - _WEEK
    return [
        text for (text,) in connection.execute("SELECT text FROM notice WHERE at > ? ORDER BY id", (since,))
    ]


def add_notice(connection: sqlite3.Connection, text: str) -> None:
    """Leave a word for whoever reads the memory next."""
    connection.execute("INSERT INTO notice (at, text) VALUES (?, ?)", (int(time.time() * 1000), text))


def last_change(connection: sqlite3.Connection) -> int:
    """The number of the newest change; 0 when there is none."""
    (number,) = connection.execute("SELECT ifnull(max(id), 0) FROM change").fetchone()
    return number


def touched(connection: sqlite3.Connection, after: int) -> frozenset[str]:
    """The names that changes with higher numbers touched."""
    rows = connection.execute(
        "SELECT DISTINCT name.text FROM touched JOIN name ON name.id = touched.name WHERE change > ?",
        (after,),
    )
    return frozenset(text for (text,) in rows)
