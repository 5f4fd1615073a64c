"""Ranked search: whole words and their beginnings first, then words that stand apart, then letters inside of words.

What somebody typed never becomes syntax of the index: each term goes in as a quoted string.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from ..folding import fold, separate
from ..query import Query, Term

MOST_RANKED = 1_000
"""More hits than this are not ranked: the newest come first."""
MOST_CANDIDATES = 2_000
"""So many facts that hold the rarest term are looked at, the newest, when terms do not stand together."""
_PIECE = 3  # letters: what the index of parts is made of
_WEIGHTS = "10.0, 4.0, 1.0"  # name, type, observation
# Each row of the index is an entity or an observation; what is gone is left in the index and left out here.
_LIVE = {
    0: "SELECT entity.id FROM entity WHERE entity.id = ? AND entity.gone IS NULL",
    1: "SELECT entity.id FROM observation JOIN entity ON entity.id = observation.entity"
    " WHERE observation.id = ? AND observation.gone IS NULL",
}
# The statements below are put together from constants; values are bound.
# ruff: noqa: S608


def search(connection: sqlite3.Connection, query: Query, limit: int) -> list[int]:
    """The entities that a query finds, the best first. No stage begins before the ones before it gave too little."""
    found: dict[int, None] = {}
    for entity in _Finder(connection, query).entities(limit):
        found[entity] = None
        if len(found) >= limit:
            break
    return list(found)


class _Finder:
    def __init__(self, connection: sqlite3.Connection, query: Query) -> None:
        self._connection = connection
        self._query = query
        self._filters, self._values = _filters(query)
        self._common: dict[Term, bool] = {}
        self._has_phrases = any(" " in term.text for term in query.terms)

    def entities(self, limit: int) -> Iterator[int]:
        """Every entity found, some of them more than once; each stage begins when the one before gave too little."""
        if not self._query.terms:
            yield from self._all(limit)
            return
        yield from self._named()
        if all(term.has_letters for term in self._query.terms):
            yield from self._by_words()
        else:
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

    def _by_words(self) -> Iterator[int]:
        """Facts in which all terms stand together: as whole words first, then as beginnings of words; then the rest."""
        whole = [term._replace(exact=True) for term in self._query.terms]
        yield from self._together(whole)
        # The words that begin with a common word are too many to look through, and it is found in itself already.
        begun = [
            term._replace(exact=term.exact or self._is_common(alone))
            for term, alone in zip(self._query.terms, whole, strict=True)
        ]
        # The index gathers all facts with words that begin so before it gives the first (measured: 9 ms for 200,000).
        # Where there are many, those that the index of parts gives one by one come first.
        many = any(not term.exact and self._stands_in_many(term) for term in begun)
        if begun != whole and not many:
            yield from self._together(begun)
        yield from self._by_parts()
        if many:
            yield from self._together(begun)

    def _together(self, terms: Sequence[Term]) -> Iterator[int]:
        match = _expression(terms)
        rows = self._rows("words", match, MOST_RANKED + 1)
        if len(rows) <= MOST_RANKED:
            yield from self._entities_of(self._ranked(terms, rows))
        while (
            len(rows) > MOST_RANKED
        ):  # common: from the newest on, a batch at a time for as long as somebody asks
            yield from self._entities_of(rows)
            rows = self._rows("words", match, MOST_RANKED + 1, before=rows[-1])
            if len(rows) <= MOST_RANKED:
                yield from self._entities_of(rows)

    def _ranked(self, terms: Sequence[Term], rows: Sequence[int]) -> list[int]:
        """Rows that hold all terms, the best first. To rank by a term, the index counts all facts that hold it, and a
        term of many says little about any of them: so common ones have no say.
        """
        rare = [term for term in terms if len(terms) == 1 or not self._is_common(term)]
        if not rare:
            return self._rows("words", f"name : ({_expression(terms)})", MOST_RANKED) + list(rows)
        ranked = self._connection.execute(
            f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, {_WEIGHTS}), rowid DESC",
            (_expression(rare),),
        )
        wanted = set(rows)
        return [row for (row,) in ranked if row in wanted]

    def _is_common(self, term: Term) -> bool:
        known = self._common.get(term)
        if known is None:
            known = self._common[term] = self._has_more("words", _expression([term]), MOST_RANKED)
        return known

    def _stands_in_many(self, term: Term) -> bool:
        """Whether the letters of a term stand in more facts than are looked at one by one."""
        return len(term.text) >= _PIECE and self._has_more("parts", _pieces(term.text), MOST_CANDIDATES)

    def _has_more(self, index: str, match: str, number: int) -> bool:
        rows = self._connection.execute(
            f"SELECT 1 FROM {index} WHERE {index} MATCH ? LIMIT 1 OFFSET ?", (match, number)
        )
        return rows.fetchone() is not None

    def _rows(self, index: str, match: str, limit: int, before: int = 1 << 62) -> list[int]:
        rows = self._connection.execute(
            f"SELECT rowid FROM {index} WHERE {index} MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?",
            (match, before, limit),
        )
        return [row for (row,) in rows]

    def _entities_of(self, rows: Iterable[int]) -> Iterator[int]:
        """The entities that rows of the index belong to, without what is gone or filtered out."""
        for row in rows:
            yield from (
                entity
                for (entity,) in self._connection.execute(
                    _LIVE[row % 2] + self._filters, (row // 2, *self._values)
                )
            )

    # --- parts of words ------------------------------------------------------------------------------------------

    def _by_parts(self) -> Iterator[int]:
        """Entities that hold all terms somewhere, looked up by the rarest of them and then read."""
        looked_at = set[int]()
        for entity in self._entities_of(self._rarest()):
            if entity not in looked_at:
                looked_at.add(entity)
                if self._holds_all(entity):
                    yield entity

    def _rarest(self) -> list[int]:
        """Rows that hold the rarest term. Terms too short for the index of parts are found only as words, so they
        decide only when there is nothing else; all of it together may still be long enough.
        """
        terms = self._query.terms
        long = [term for term in terms if len(term.text) >= _PIECE]
        rarest = min((self._holding(term) for term in long or terms), key=len)
        if long or len(terms) == 1:
            return rarest
        return rarest + self._holding(Term(self._query.text, exact=True))

    def _holding(self, term: Term) -> list[int]:
        """The newest rows that may hold a term."""
        if len(term.text) >= _PIECE:
            return self._rows("parts", _pieces(term.text), MOST_CANDIDATES)
        if term.has_letters:
            return self._rows("words", _expression([term]), MOST_CANDIDATES)
        # One or two signs are in no index: everything is looked at.
        rows = self._connection.execute(
            "SELECT id * 2 + 1 FROM observation WHERE gone IS NULL AND instr(text, ?1)"
            " UNION ALL SELECT entity.id * 2 FROM entity JOIN name ON name.id = entity.name"
            " WHERE gone IS NULL AND instr(name.text || char(10) || type, ?1) ORDER BY 1 DESC LIMIT ?2",
            (term.text, MOST_CANDIDATES),
        )
        return [row for (row,) in rows]

    def _holds_all(self, entity: int) -> bool:
        missing = [term.text for term in self._query.terms]
        rows = self._connection.execute(
            "SELECT name.text || char(10) || entity.type FROM entity JOIN name ON name.id = entity.name"
            " WHERE entity.id = ?1 UNION ALL SELECT text FROM observation WHERE entity = ?1 AND gone IS NULL",
            (entity,),
        )
        for (text,) in rows:
            folded = fold(text)
            if self._has_phrases:
                folded = " ".join(folded.split())
            missing = [term for term in missing if term not in folded]
            if not missing:
                return True
        return False


def _expression(terms: Sequence[Term]) -> str:
    """The terms as the index reads them: all of them, a word also as a beginning."""
    return " AND ".join(_quoted(separate(term.text)) + _star(term) for term in terms)


def _pieces(text: str) -> str:
    """All pieces of a text, in whatever order they stand."""
    pieces = dict.fromkeys(text[at : at + _PIECE] for at in range(len(text) - _PIECE + 1))
    return " AND ".join(map(_quoted, pieces))


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
