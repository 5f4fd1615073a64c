"""Ranked search: whole words and their beginnings first, then words that stand apart, then letters inside of words.

What somebody typed never becomes syntax of the index: each term goes in as a quoted string.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import islice

from ..folding import fold, separate
from ..query import Query, Term

MOST_RANKED = 1_000
"""More hits than this are not ranked by how well they fit, but by name first and newest first."""
MOST_CANDIDATES = 5_000
"""So many facts that hold the rarest term are looked at, the newest, when terms do not stand together."""
_PIECE = 3  # letters: what the index of parts is made of
_WEIGHTS = "10.0, 4.0, 1.0"  # name, type, observation
# Each row of the index is an entity or an observation; what is gone is left in the index and left out here.
_LIVE = (
    "SELECT hit.row, entity.id, entity.name, hit.score FROM hit JOIN entity ON entity.id = hit.row / 2"
    " WHERE hit.row % 2 = 0 AND entity.gone IS NULL"
    " UNION ALL SELECT hit.row, entity.id, entity.name, hit.score FROM hit"
    " JOIN observation ON observation.id = hit.row / 2 AND observation.gone IS NULL"
    " JOIN entity ON entity.id = observation.entity WHERE hit.row % 2 = 1"
)
# The statements below are put together from constants; values are bound.
# ruff: noqa: S608


def search(connection: sqlite3.Connection, query: Query, limit: int) -> list[int]:
    """The entities that a query finds, the best first."""
    finder = _Finder(connection, query)
    return list(islice(dict.fromkeys(finder.entities(limit)), limit))


class _Finder:
    def __init__(self, connection: sqlite3.Connection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._filters, self._values = _filters(query)

    def entities(self, limit: int) -> Iterator[int]:
        """Every entity found, some of them more than once; each stage begins when the one before gave too little."""
        if not self._query.terms:
            yield from self._all(limit)
            return
        yield from self._named()
        if all(term.has_letters for term in self._query.terms):
            yield from self._by_words(limit)
        yield from self._by_parts()

    def _all(self, limit: int) -> Iterator[int]:
        rows = self._connection.execute(
            f"SELECT entity.id FROM entity WHERE entity.gone IS NULL {self._filters} ORDER BY entity.id LIMIT ?",
            (*self._values, limit),
        )
        return (entity for (entity,) in rows)

    def _named(self) -> Iterator[int]:
        """An entity that is called exactly like this comes first."""
        rows = self._connection.execute(
            "SELECT entity.id FROM name JOIN entity ON entity.name = name.id"
            f" WHERE name.key = ? AND entity.gone IS NULL {self._filters}",
            (self._query.text, *self._values),
        )
        return (entity for (entity,) in rows)

    # --- words ---------------------------------------------------------------------------------------------------

    def _by_words(self, limit: int) -> Iterator[int]:
        match = _expression(self._query.terms)
        (count,) = self._connection.execute(
            "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ? LIMIT ?)",
            (match, MOST_RANKED + 1),
        ).fetchone()
        if count <= MOST_RANKED:
            yield from self._ranked(match)
        else:
            yield from self._newest("{name} : (" + match + ")", limit)
            yield from self._newest(match, limit)

    def _ranked(self, match: str) -> Iterator[int]:
        rows = self._connection.execute(
            f"WITH hit (row, score) AS (SELECT rowid, bm25(words, {_WEIGHTS}) FROM words WHERE words MATCH ?),"
            f" live (row, id, name, score) AS ({_LIVE})"
            f" SELECT entity.id, min(score) FROM live JOIN entity ON entity.id = live.id WHERE 1 {self._filters}"
            " GROUP BY entity.id ORDER BY 2, 1 DESC",
            (match, *self._values),
        )
        return (entity for entity, _ in rows)

    def _newest(self, match: str, limit: int) -> Iterator[int]:
        """So many words are common: the newest hits, a batch at a time until there are enough entities."""
        before, found = 1 << 62, set[int]()
        while len(found) < limit:
            rows = self._rows_before(match, before)
            if not rows:
                return
            for _, entity in sorted(self._alive(rows), reverse=True):
                found.add(entity)
                yield entity
            before = rows[-1]

    def _rows_before(self, match: str, before: int) -> list[int]:
        rows = self._connection.execute(
            "SELECT rowid FROM words WHERE words MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (match, before, MOST_RANKED),
        )
        return [row for (row,) in rows]

    # --- parts of words ------------------------------------------------------------------------------------------

    def _by_parts(self) -> Iterator[int]:
        """Entities that hold all terms somewhere, looked up by the rarest of them and then read."""
        candidates = self._rarest()
        looked_at = set[int]()
        for _, entity in sorted(self._alive(candidates), reverse=True):
            if entity not in looked_at:
                looked_at.add(entity)
                if self._holds_all(entity):
                    yield entity

    def _rarest(self) -> list[int]:
        found = [self._holding(term) for term in self._query.terms]
        return min(found, key=len)

    def _holding(self, term: Term) -> list[int]:
        """The newest rows that may hold a term."""
        if len(term.text) >= _PIECE:
            sql, value = "SELECT rowid FROM parts WHERE parts MATCH ?", _quoted(term.text)
        elif term.has_letters:
            sql, value = "SELECT rowid FROM words WHERE words MATCH ?", _expression([term])
        else:  # one or two signs are in no index: everything is looked at
            sql = (
                "SELECT rowid FROM (SELECT id * 2 + 1 AS rowid FROM observation WHERE gone IS NULL AND instr(text, ?1)"
                " UNION ALL SELECT entity.id * 2 FROM entity JOIN name ON name.id = entity.name"
                " WHERE gone IS NULL AND instr(name.text || char(10) || type, ?1))"
            )
            value = term.text
        rows = self._connection.execute(f"{sql} ORDER BY rowid DESC LIMIT ?2", (value, MOST_CANDIDATES))
        return [row for (row,) in rows]

    def _holds_all(self, entity: int) -> bool:
        missing = [term.text for term in self._query.terms]
        rows = self._connection.execute(
            "SELECT name.text || char(10) || entity.type FROM entity JOIN name ON name.id = entity.name"
            " WHERE entity.id = ?1 UNION ALL SELECT text FROM observation WHERE entity = ?1 AND gone IS NULL",
            (entity,),
        )
        for (text,) in rows:
            folded = " ".join(fold(text).split()) if any(" " in term for term in missing) else fold(text)
            missing = [term for term in missing if term not in folded]
            if not missing:
                return True
        return False

    def _alive(self, rows: Sequence[int]) -> list[tuple[int, int]]:
        """Rows of the index whose facts are there, with the entities that they belong to."""
        if not rows:
            return []
        listed = ",".join(f"({row},0)" for row in rows)
        return self._connection.execute(
            f"WITH hit (row, score) AS (VALUES {listed}),"
            f" live (row, id, name, score) AS ({_LIVE})"
            f" SELECT live.row, entity.id FROM live JOIN entity ON entity.id = live.id WHERE 1 {self._filters}",
            self._values,
        ).fetchall()


def _expression(terms: Sequence[Term]) -> str:
    """The terms as the index reads them: all of them, a word also as a beginning."""
    return " AND ".join(_quoted(separate(term.text)) + _star(term) for term in terms)


def _star(term: Term) -> str:
    # One letter begins too many words; `c++` is looked up as the word `c`.
    return "" if term.exact or sum(map(str.isalnum, term.text)) < 2 else "*"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _filters(query: Query) -> tuple[str, tuple[object, ...]]:
    """Conditions on `entity`, and their values."""
    sql, values = "", list[object]()
    if query.type is not None:
        sql += " AND entity.type_key = ?"
        values.append(query.type)
    if query.since is not None:
        sql += (
            " AND EXISTS (SELECT 1 FROM touched WHERE touched.name = entity.name"
            " AND touched.change >= (SELECT min(id) FROM change WHERE at >= ?))"
        )
        values.append(query.since)
    if query.before is not None:
        sql += " AND entity.made < ifnull((SELECT min(id) FROM change WHERE at >= ?), 1 << 62)"
        values.append(query.before)
    return sql, tuple(values)
