"""Looking up names: as they are written, as they look, and as they begin."""

import sqlite3

from ..folding import fold

_LIVE = "EXISTS (SELECT 1 FROM entity WHERE entity.name = name.id AND entity.gone IS NULL)"


def similar(connection: sqlite3.Connection, name: str) -> list[str]:
    """Names of entities that fold to the same text, the name itself left out."""
    rows = connection.execute(
        f"SELECT text FROM name WHERE key = ? AND text <> ? AND {_LIVE} LIMIT 5",  # noqa: S608 - a constant
        (fold(name), name),
    )
    return [text for (text,) in rows]


def names_like(connection: sqlite3.Connection, typed: str, limit: int) -> list[str]:
    """Names of entities that begin like this, in the order of an index."""
    key = fold(typed)
    rows = connection.execute(
        f"SELECT text FROM name WHERE key >= ? AND key < ? AND {_LIVE} ORDER BY key LIMIT ?",  # noqa: S608 - a constant
        (key, key + "\U0010ffff", limit),
    )
    return [text for (text,) in rows]
