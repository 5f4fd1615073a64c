"""Changes: what a statement would do, whether the user has to agree to it, and doing it or only trying it."""

import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, NotRequired, TypeVar

from anyio import to_thread
from typing_extensions import TypedDict

from . import catalogue
from .database import Opener
from .guard import WRITING, Event, schema_change
from .problems import Consent, Problem
from .running import Session, run
from .statement import Bound, bare, has_where
from .values import decode, shape

T = TypeVar("T")
PREVIEW_SECONDS = 5.0
RETURNED = 50  # rows that a RETURNING gives back
SAMPLE = 5
_CELL = 1000

_CHANGES = (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE)


class Written(TypedDict):
    """What a change came to. Rows are there if the statement has RETURNING."""

    affected_rows: int
    last_insert_rowid: NotRequired[int]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[Any]]]


class Preview(TypedDict):
    """What a change would come to."""

    affected_rows: int
    tables: list[str]
    schema_change: NotRequired[str]
    columns: NotRequired[list[str]]
    rows: NotRequired[list[list[Any]]]


class Effect(NamedTuple):
    """What a statement does, as the engine sees it before running it."""

    schema: str | None  # in words
    tables: tuple[str, ...]
    inserts: bool
    whole: str | None  # the table whose rows it all deletes or updates, because no WHERE says which

    @property
    def question(self) -> str | None:
        """Why the user has to agree, if so."""
        if self.schema:
            return f"This statement {self.schema}"
        return _sweeping(self.whole) if self.whole else None


def _sweeping(table: str) -> str:
    # Without the number of rows: asked again because the client has to retry, it must be the same question.
    return f"This statement changes or deletes every row of {table}"


class Done(NamedTuple):
    """A change that was made."""

    written: Written
    reshaped: bool  # the schema is another now


async def write(opener: Opener, sql: str, values: Bound, seconds: float, *, agreed: bool) -> Done:
    """Run one statement that changes data or schema; Consent is raised instead when the user must agree first."""

    def job(running: Session) -> Done:
        effect = examine(running, sql, values)
        _demand(effect, agreed=agreed)
        return Done(_run(running, effect, sql, values, agreed=agreed), effect.schema is not None)

    return await _do(opener, seconds, job)


async def create_table(opener: Opener, sql: str, seconds: float, *, agreed: bool) -> str:
    """Run a statement that creates one table and does nothing else; says what came of it."""

    def job(running: Session) -> str:
        effect = examine(running, sql, ())
        made = _created(running.guard.events)
        if len(made) != 1 or effect.schema not in ("creates a table", "creates a virtual table"):
            raise Problem("create_table takes one CREATE TABLE statement: use write_query for anything else.")
        if catalogue.exists(running, made[0]):  # else IF NOT EXISTS was missing, and SQLite has said so
            return f"{made[0]} exists already: nothing was changed. describe_table shows it."
        _demand(effect, agreed=agreed)
        running.command("BEGIN IMMEDIATE")
        running.all(sql)
        running.commit()
        return f"Created {made[0]}."

    return await _do(opener, seconds, job)


async def _do(opener: Opener, seconds: float, job: Callable[[Session], T]) -> T:
    """Do a job; on a file that does not exist, first on an empty database in memory: if it fails there, no file is
    left behind.
    """
    done = await run(opener, seconds, job)
    if not opener.missing:
        return done
    await to_thread.run_sync(opener.create)
    return await run(opener, seconds, job)


async def preview(opener: Opener, sql: str, values: Bound, seconds: float) -> Preview:
    """Run a change in a savepoint, look at it, and take it back. Nothing of it reaches the file."""
    return await run(opener, min(seconds, PREVIEW_SECONDS), partial(_preview, sql, values))


def _preview(sql: str, values: Bound, running: Session) -> Preview:
    effect = examine(running, sql, values)
    _leave_no_trace(running)
    running.command("SAVEPOINT preview")
    before = running.connection.total_changes
    sample = f"{bare(sql)}\nRETURNING *"
    shows = not effect.schema and _compiles(running, sample, values)
    result = _finish(running, sample if shows else sql, values, SAMPLE)
    changes = running.connection.total_changes - before
    running.command("ROLLBACK")  # releasing the savepoint would commit, if only a new change counter
    affected = result.affected if result.affected >= 0 else changes
    seen = Preview(affected_rows=affected, tables=list(effect.tables))
    if effect.schema:
        seen["schema_change"] = effect.schema
    if result.columns:
        seen["columns"], seen["rows"] = result.columns, result.rows
    return seen


def examine(running: Session, sql: str, values: Bound) -> Effect:
    """What a statement would do. It is compiled for EXPLAIN, which does not run it, and the guard listens."""
    guard = running.guard
    guard.begin(WRITING)
    program = running.all(f"EXPLAIN {sql}", values)
    events = list(guard.events)
    if any(step[1] == "Vacuum" for step in program):
        raise Problem("VACUUM rewrites the whole file or copies it: that is not for this tool.")
    schema = schema_change(events)
    direct = [event for event in events if event.inner is None and event.action in _CHANGES and event.first]
    if not direct and not schema:
        raise Problem("This statement changes nothing: use read_query for reading.")
    tables = tuple(
        dict.fromkeys(
            str(event.first)
            for event in events
            if event.action in _CHANGES and event.first and not event.first.startswith("sqlite_")
        )
    )
    _refuse_internal(running, tables)
    inserts = any(event.action == sqlite3.SQLITE_INSERT for event in direct)
    bounded = schema or inserts or has_where(sql)
    return Effect(schema, tables, inserts, None if bounded else direct[0].first)


def _refuse_internal(running: Session, tables: Sequence[str]) -> None:
    """The tables in which full-text and spatial indexes keep their own data are not for anybody's hand."""
    if any("_" in table for table in tables):
        found = running.all("SELECT name FROM pragma_table_list WHERE type = 'shadow'")
        internal = {row[0] for row in found} & set(tables)
        if internal:
            raise Problem(f"{min(internal)} belongs to a virtual table: change that table instead.")


def _demand(effect: Effect, *, agreed: bool) -> None:
    if effect.question and not agreed:
        raise Consent(effect.question)


def _run(running: Session, effect: Effect, sql: str, values: Bound, *, agreed: bool) -> Written:
    running.command("BEGIN IMMEDIATE")
    result = _finish(running, sql, values, RETURNED)
    asks_nobody = effect.inserts or effect.schema or agreed
    if (
        not asks_nobody
        and result.affected > 1
        and _was_everything(running, effect.tables[0], result.affected)
    ):
        raise Consent(_sweeping(effect.tables[0]))
    running.commit()
    written = Written(affected_rows=max(result.affected, 0))
    if effect.inserts and result.affected > 0 and result.rowid is not None:
        written["last_insert_rowid"] = result.rowid
    if result.columns:
        written["columns"], written["rows"] = result.columns, result.rows
    return written


def _was_everything(running: Session, table: str, affected: int) -> bool:
    """Whether no row was left out: what a WHERE that is always true does. Looks at no more rows than were changed."""
    name = table.replace('"', '""')
    left = running.command(f'SELECT count(*) FROM (SELECT 1 FROM "{name}" LIMIT {affected + 1})')  # noqa: S608 - a name of the catalogue, quoted
    return left[0][0] in (0, affected)


class Outcome(NamedTuple):
    """What a statement returned and changed."""

    columns: list[str]
    rows: list[list[Any]]
    affected: int
    rowid: int | None


def _finish(running: Session, sql: str, values: Bound, keep: int) -> Outcome:
    """Run a statement to its end, whatever it returns; keep some of that."""
    running.connection.text_factory = decode  # one odd value must not undo the whole change
    cursor = running.execute(sql, values)
    columns = [column[0] for column in cursor.description or ()]
    rows: list[list[Any]] = []
    with running.explained():
        for row in cursor:  # one at a time: a row may be as large as SQLite allows
            if len(rows) < keep:
                rows.append([shape(value, _CELL) for value in row])
    return Outcome(columns, rows, cursor.rowcount, cursor.lastrowid)


def _compiles(running: Session, sql: str, values: Bound) -> bool:
    try:
        running.all(f"EXPLAIN {sql}", values)
    except Problem:
        return False
    return True


def _leave_no_trace(running: Session) -> None:
    """Keep the journal in memory and every changed page out of the file until it is all taken back."""
    running.command("PRAGMA cache_spill=0")
    ((mode,),) = running.command("PRAGMA journal_mode")
    if mode != "wal":  # a write-ahead log is left alone: nothing is written to it before a commit
        running.command("PRAGMA journal_mode=MEMORY")


def _created(events: Sequence[Event]) -> list[str]:
    made = (sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VTABLE)
    return [str(event.first) for event in events if event.action in made]
