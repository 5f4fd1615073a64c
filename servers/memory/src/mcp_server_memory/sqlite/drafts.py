"""One change while it is being made: rows that appear, rows that are marked gone, and the log of what was touched."""

import sqlite3
import time
from zlib import crc32

from ..folding import fold
from ..shapes import Triple
from ..store import Source, Told
from . import indexing, undo
from .names import similar

_ENTITY = "SELECT entity.id FROM name JOIN entity ON entity.name = name.id WHERE name.text = ? AND entity.gone IS NULL"

_MOST_ROWS = 20_000


class SqliteDraft:
    """A change inside an open transaction. Its number is taken when the first row changes."""

    def __init__(self, connection: sqlite3.Connection, source: Source) -> None:
        self.connection = connection
        self.number: int | None = None
        self._source = source
        self._names: dict[str, int] = {}
        self._labels: dict[int, tuple[int, indexing.Label]] = {}
        self._rows: list[indexing.Row] = []

    # --- looking -------------------------------------------------------------------------------------------------

    def find(self, name: str) -> int | None:
        return self._one(_ENTITY, name)

    def similar(self, name: str) -> list[str]:
        return similar(self.connection, name)

    def has_type(self, entity: int, type: str) -> bool:
        return self._one("SELECT 1 FROM entity WHERE id = ? AND type = ?", entity, type) is not None

    def has_observation(self, entity: int, text: str) -> bool:
        return (
            self._one(
                "SELECT 1 FROM observation WHERE entity = ? AND sum = ? AND text = ? AND gone IS NULL",
                entity,
                checksum(text),
                text,
            )
            is not None
        )

    def has_relation(self, relation: Triple) -> bool:
        return self._relation(relation) is not None

    # --- adding --------------------------------------------------------------------------------------------------

    def add_entity(self, name: str, type: str) -> int:
        named = self.name_id(name)
        entity = self.insert(
            "INSERT INTO entity (name, type, type_key, made) VALUES (?, ?, ?, ?)",
            named,
            type,
            fold(type),
            self.change(),
        )
        self._labels[entity] = named, indexing.label(name, type)
        self._index(indexing.of_entity(entity, name, type))
        self.touch(named)
        return entity

    def add_observation(self, entity: int, text: str) -> None:
        named, label = self._label(entity)
        number = self.insert(
            "INSERT INTO observation (entity, text, sum, made) VALUES (?, ?, ?, ?)",
            entity,
            text,
            checksum(text),
            self.change(),
        )
        self._index(indexing.of_observation(number, label, text))
        self.touch(named)

    def add_relation(self, relation: Triple) -> None:
        source, target = self.name_id(relation.source), self.name_id(relation.target)
        self.insert(
            "INSERT INTO relation (source, target, type, made) VALUES (?, ?, ?, ?)",
            source,
            target,
            relation.type,
            self.change(),
        )
        self.touch(source)
        self.touch(target)

    # --- taking out ----------------------------------------------------------------------------------------------

    def drop_entity(self, entity: int) -> tuple[int, int]:
        number = self.change()
        named = self._label(entity)[0]
        self.run("UPDATE entity SET gone = ? WHERE id = ?", number, entity)
        observations = self.run(
            "UPDATE observation SET gone = ? WHERE entity = ? AND gone IS NULL", number, entity
        )
        ends = self.connection.execute(
            "SELECT source, target FROM relation WHERE source = ? AND gone IS NULL"
            " UNION SELECT source, target FROM relation WHERE target = ? AND gone IS NULL",
            (named, named),
        ).fetchall()
        relations = self.run("UPDATE relation SET gone = ? WHERE source = ? AND gone IS NULL", number, named)
        relations += self.run("UPDATE relation SET gone = ? WHERE target = ? AND gone IS NULL", number, named)
        for touched in {named, *(end for pair in ends for end in pair)}:
            self.touch(touched)
        return observations, relations

    def drop_observation(self, entity: int, text: str) -> int:
        if not self.has_observation(entity, text):
            return 0
        self.touch(self._label(entity)[0])
        return self.run(
            "UPDATE observation SET gone = ? WHERE entity = ? AND sum = ? AND text = ? AND gone IS NULL",
            self.change(),
            entity,
            checksum(text),
            text,
        )

    def drop_relation(self, relation: Triple) -> int:
        found = self._relation(relation)
        if found is None:
            return 0
        self.touch(self.name_id(relation.source))
        self.touch(self.name_id(relation.target))
        return self.run("UPDATE relation SET gone = ? WHERE id = ?", self.change(), found)

    def take_back(self, number: int | None) -> Told:
        return undo.take_back(self, number)

    # --- for undo.py ---------------------------------------------------------------------------------------------

    def change(self) -> int:
        """The number of this change."""
        if self.number is None:
            self.number = self.insert(
                "INSERT INTO change (at, client, act) VALUES (?, ?, ?)",
                int(time.time() * 1000),
                self._source.client,
                self._source.act,
            )
        return self.number

    def touch(self, named: int) -> None:
        """Write down that this change concerns a name."""
        self.run("INSERT OR IGNORE INTO touched (change, name) VALUES (?, ?)", self.change(), named)

    def run(self, sql: str, *values: object) -> int:
        """Run a statement, and count the rows it changed."""
        return self.connection.execute(sql, values).rowcount

    # --- for who commits -----------------------------------------------------------------------------------------

    def take_rows(self) -> list[indexing.Row]:
        """What still has to go into the index before the commit."""
        rows, self._rows = self._rows, []
        return rows

    # --- inside --------------------------------------------------------------------------------------------------

    def insert(self, sql: str, *values: object) -> int:
        """Run an insert, and say which row it made."""
        made = self.connection.execute(sql, values).lastrowid
        assert made is not None
        return made

    def name_id(self, text: str) -> int:
        """The number of a name, known before or not."""
        known = self._names.get(text)
        if known is None:
            known = self._one("SELECT id FROM name WHERE text = ?", text)
            if known is None:
                known = self.insert("INSERT INTO name (text, key) VALUES (?, ?)", text, fold(text))
            self._names[text] = known
        return known

    def _label(self, entity: int) -> tuple[int, indexing.Label]:
        """The number of an entity's name, and how the index knows the entity."""
        known = self._labels.get(entity)
        if known is None:
            named, name, kind = self.connection.execute(
                "SELECT name.id, name.text, entity.type FROM entity JOIN name ON name.id = entity.name WHERE entity.id = ?",
                (entity,),
            ).fetchone()
            known = self._labels[entity] = named, indexing.label(name, kind)
        return known

    def _index(self, row: indexing.Row) -> None:
        self._rows.append(row)
        if len(self._rows) >= _MOST_ROWS:  # a large import
            indexing.insert(self.connection, self.take_rows())

    def _relation(self, relation: Triple) -> int | None:
        return self._one(
            "SELECT relation.id FROM relation JOIN name AS a ON a.id = source JOIN name AS b ON b.id = target"
            " WHERE a.text = ? AND b.text = ? AND relation.type = ? AND gone IS NULL",
            *relation,
        )

    def _one(self, sql: str, *values: object) -> int | None:
        row = self.connection.execute(sql, values).fetchone()
        return None if row is None else row[0]


def checksum(text: str) -> int:
    """A short stand-in for a text in an index; equal texts have equal ones."""
    return crc32(text.encode())
