"""What makes facts findable: their words and parts of words, folded.

The index writes a piece of its own whenever a row number is lower than the one before (measured: a commit of ten
entities came to ten pieces, and one commit in forty had to merge them). So rows are gathered and go in by number.
"""

import sqlite3
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from ..folding import fold, separate


class Label(NamedTuple):
    """Name and type of an entity, as the index of words takes them."""

    name: str
    kind: str


class Row(NamedTuple):
    """One row of both indexes."""

    number: int
    name: str
    kind: str
    text: str
    parts: str


def label(name: str, kind: str) -> Label:
    """Prepare an entity's name and type, once for all its observations."""
    return Label(separate(fold(name)), separate(fold(kind)))


def of_entity(entity: int, name: str, kind: str) -> Row:
    """The row by which an entity is found."""
    return Row(entity * 2, *label(name, kind), "", f"{fold(name)}\n{fold(kind)}")


def of_observation(number: int, about: Label, text: str) -> Row:
    """The row by which an observation is found; it knows whom it is about."""
    folded = fold(text)
    return Row(number * 2 + 1, about.name, about.kind, separate(folded), folded)


def insert(connection: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Put rows into the indexes."""
    ordered = sorted(rows, key=itemgetter(0))
    connection.executemany(
        "INSERT INTO words (rowid, name, type, text) VALUES (?, ?, ?, ?)", [row[:4] for row in ordered]
    )
    connection.executemany(
        "INSERT INTO parts (rowid, text) VALUES (?, ?)", [(row.number, row.parts) for row in ordered]
    )
