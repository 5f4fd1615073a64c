"""What a database is made of: tables, columns, keys, relations, indexes, counts. Names are looked up and bound."""

from collections.abc import Iterator
from typing import Any, NotRequired

from mcp_server_core import fit_items
from typing_extensions import TypedDict

from .problems import Problem
from .rows import encoder
from .running import Session

COUNTED = 100_000  # rows of a table that are counted; more are "more"
_SHOWN_NAMES = 20
_ALL_COLUMNS = "SELECT name, type FROM pragma_table_info(?)"


class Table(TypedDict):
    """A table or view."""

    name: str
    type: str


class Column(TypedDict):
    """A column as it was declared."""

    name: str
    type: str
    notnull: bool
    default: str | None
    pk: int
    generated: NotRequired[bool]


class Relation(TypedDict):
    """Columns that point to columns of another table."""

    columns: list[str]
    table: str
    to: list[str | None]


class Index(TypedDict):
    """An index and what it is over; an expression has no name."""

    name: str
    columns: list[str | None]
    unique: bool


class Description(TypedDict):
    """All there is to know about one table."""

    name: str
    type: str
    columns: list[Column]
    foreign_keys: list[Relation]
    indexes: list[Index]
    rows: NotRequired[int]
    more_rows: NotRequired[bool]
    sql: NotRequired[str | None]
    truncated: NotRequired[str]


def tables(running: Session) -> list[Table]:
    """Tables and views, in the order of their names; not the tables that virtual tables are made of."""
    found = running.all(
        "SELECT name, type FROM pragma_table_list "
        "WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
    )
    return [Table(name=name, type=kind) for name, kind in found]


def find(running: Session, name: str) -> Table:
    """The table of that name, as SQLite compares names."""
    known = tables(running)
    found = [table for table in known if table["name"].lower() == name.lower()]
    if found:
        return found[0]
    names = ", ".join(table["name"] for table in known[:_SHOWN_NAMES])
    more = f" and {len(known) - _SHOWN_NAMES} more" if len(known) > _SHOWN_NAMES else ""
    raise Problem(f"There is no table {name!r}; there {'are: ' + names + more if names else 'is none'}.")


def exists(running: Session, name: str) -> bool:
    """Whether there is a table or view of that name, as SQLite compares names."""
    return any(table["name"].lower() == name.lower() for table in tables(running))


def describe(running: Session, table: Table) -> Description:
    """One table with its columns, keys, relations, indexes and number of rows."""
    name = table["name"]
    described = Description(
        name=name,
        type=table["type"],
        columns=columns(running, name),
        foreign_keys=relations(running, name),
        indexes=indexes(running, name),
    )
    if table["type"] != "view":  # counting one could run any query
        count = count_rows(running, name)
        described["rows"] = min(count, COUNTED)
        if count > COUNTED:
            described["more_rows"] = True
    return described


def describe_fully(name: str, budget: int, running: Session) -> Description:
    """The table of that name, with the SQL that made it; cut to size, and then it says how to get the rest."""
    described = describe(running, find(running, name))
    described["sql"] = definition(running, described["name"])
    if len(encoder()(described)) <= budget:
        return described
    del described["sql"]
    known, described["columns"] = described["columns"], []
    described["truncated"] = f"{len(known)} columns: read_query {_ALL_COLUMNS}"
    described["columns"] = fit_items(
        known, budget - len(encoder()(described)), lambda column: len(encoder()(column)) + 1
    ).items
    return described


def columns(running: Session, name: str) -> list[Column]:
    """The columns of a table, hidden ones left out."""
    found = running.all(
        'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?) WHERE hidden <> 1',
        (name,),
    )
    return [_column(*row) for row in found]


def _column(name: str, kind: str, notnull: int, default: str | None, key: int, hidden: int) -> Column:
    column = Column(name=name, type=kind, notnull=bool(notnull), default=default, pk=key)
    if hidden:
        column["generated"] = True
    return column


def relations(running: Session, name: str) -> list[Relation]:
    """The foreign keys of a table."""
    found = running.all(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', (name,)
    )
    keys: dict[int, Relation] = {}
    for number, table, source, target in found:
        key = keys.setdefault(number, Relation(columns=[], table=table, to=[]))
        key["columns"].append(source)
        key["to"].append(target)
    return list(keys.values())


def indexes(running: Session, name: str) -> list[Index]:
    """The indexes of a table."""
    found = running.all(
        'SELECT list.name, list."unique", info.name FROM pragma_index_list(?) AS list, '
        "pragma_index_info(list.name) AS info ORDER BY list.name, info.seqno",
        (name,),
    )
    known: dict[str, Index] = {}
    for index, unique, column in found:
        known.setdefault(index, Index(name=index, columns=[], unique=bool(unique)))["columns"].append(column)
    return list(known.values())


def count_rows(running: Session, name: str) -> int:
    """How many rows a table has, counted up to one more than COUNTED."""
    quoted = name.replace('"', '""')
    rows = running.all(f'SELECT count(*) FROM (SELECT 1 FROM "{quoted}" LIMIT {COUNTED + 1})')  # noqa: S608 - a name of the catalogue, quoted
    return rows[0][0]


def definition(running: Session, name: str) -> str | None:
    """The SQL that made a table."""
    rows: list[Any] = running.all("SELECT sql FROM sqlite_master WHERE name = ?", (name,))
    return rows[0][0] if rows else None


def first_rows(running: Session, name: str, count: int) -> Iterator[Any]:
    """Some rows of a table, one at a time: one may be as large as SQLite allows."""
    quoted = name.replace('"', '""')
    with running.explained():
        yield from running.connection.execute(f'SELECT * FROM "{quoted}" LIMIT {count}')  # noqa: S608 - a name of the catalogue, quoted
