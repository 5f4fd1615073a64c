"""Answers to a query, a page at a time. A later page runs the query again and skips what was given, which is the same
result as long as the database file did not change; when it did, that is said instead.
"""

from collections.abc import Callable
from functools import partial
from hashlib import sha256
from sqlite3 import Cursor
from typing import NamedTuple

import anyio

from .database import Opener
from .problems import Problem
from .rows import Rows, encoder
from .running import Session, run
from .statement import Bound
from .types import Types
from .values import decode

# Rows taken at once: a row may be as large as the engine allows, and more of them gain little.
_BATCH = 32
_FIRST = 2  # because one row alone may be longer than the first of several; and where rows are large
_ENVELOPE = 400  # bytes around columns and rows


class Position(NamedTuple):
    """Where a page ends: how many rows were given, of which query, of which state of the file."""

    offset: int
    query: str
    state: str


class Query(NamedTuple):
    """A statement, what is bound to it, and how much of the answer is wanted."""

    sql: str
    values: Bound
    limit: int
    budget: int

    def digest(self, opener: Opener) -> str:
        """Tells two queries apart."""
        return _digest(self.sql, repr(self.values), opener.spot.path)


class Answer(NamedTuple):
    """A page as JSON: `columns` and `types`, `rows`, and if there is more, where it goes on."""

    columns: bytes
    rows: list[bytes]
    next: Position | None

    def parts(self, cursor: str | None) -> list[bytes]:
        """The whole answer, in parts that are long already and need not be joined; `cursor` stands for `next`."""
        tail = b"false}" if cursor is None else b'true,"cursor":' + encoder()(cursor) + b"}"
        return [b"{", self.columns, b',"rows":[', *self.rows, b'],"truncated":', tail]


async def read(
    make: Callable[[], Opener],
    query: Query,
    seconds: float,
    start: Position | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> Answer:
    """One page of a query's rows, from the beginning or from where another page ended."""
    lenient = False
    while True:
        opener = make()
        try:
            answer = await run(opener, seconds, partial(_page, query, start, tell, lenient))
        except Problem as problem:
            if lenient or "Could not decode to UTF-8" not in str(problem):
                raise
            lenient = True
            continue
        if answer.next is None or opener.stamp.settled or start is not None:
            return answer
        # The file changed a moment ago; a change in the same moment would not show in its times.
        await anyio.sleep(0.03)


def _check(start: Position | None, query: Query, opener: Opener) -> None:
    if start is None:
        return
    if start.query != query.digest(opener):
        raise Problem(
            "The cursor belongs to another query: repeat `query`, `params` and `database` unchanged."
        )
    if start.state != _digest(*map(str, opener.stamp.facts)):
        raise Problem("The database has changed since the first page: run the query again without `cursor`.")


def _page(
    query: Query, start: Position | None, tell: Callable[[int], None], lenient: bool, running: Session
) -> Answer:
    _check(start, query, running.opener)
    if lenient:
        running.connection.text_factory = decode
    types = Types(query.sql)
    types.find(running)
    cursor = running.execute(query.sql, query.values)
    names = [column[0] for column in cursor.description or ()]
    if not names:
        raise Problem(
            "This statement gives no rows: read_query takes one SELECT, VALUES, WITH or telling PRAGMA."
        )
    columns = encoder()({"columns": names, "types": types.of(len(names))})[1:-1]
    room = query.budget - len(columns) - _ENVELOPE
    if room < query.budget // 2:
        raise Problem(f"There are {len(names)} columns, too many for one result: select fewer.")
    offset = start.offset if start else 0
    _skip(running, cursor, offset)
    rows = Rows(room, len(names))
    complete = _fill(running, cursor, rows, query.limit, tell)
    state = _digest(*map(str, running.opener.stamp.facts))
    end = None if complete else Position(offset + rows.count, query.digest(running.opener), state)
    return Answer(columns, rows.written(), end)


def _skip(running: Session, cursor: Cursor, offset: int) -> None:
    with running.explained():
        while offset > 0:
            offset -= len(cursor.fetchmany(min(offset, _BATCH))) or offset


def _fill(running: Session, cursor: Cursor, rows: Rows, limit: int, tell: Callable[[int], None]) -> bool:
    """Take rows until they are all there, or enough, or as many as fit; True when they are all there."""
    most = _FIRST
    with running.explained():
        while True:
            wanted = limit - rows.count
            size = min(wanted + 1, most)  # one row more than wanted says whether there is more
            batch = cursor.fetchmany(size)
            if not rows.add(batch[:wanted], alone=rows.count == 0 and len(batch) == 1):
                return False
            tell(rows.count)
            if len(batch) > wanted:
                return False
            if len(batch) < size:
                return True
            most = _FIRST if rows.cut else _BATCH


def _digest(*facts: str) -> str:
    return sha256("\0".join(facts).encode(errors="replace")).hexdigest()[:16]
