"""What a statement may do, decided by the engine while it compiles it: SQLite asks about every table, column,
function and setting that a statement touches. No SQL text is looked at here.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from .problems import Problem

MAX_VALUE = 64 * 1024 * 1024
MAX_SQL = 1_000_000
MAX_HEAP = 256 * 1024 * 1024
MAX_PATTERN = 1_000  # matching takes as many steps as text and pattern have characters, multiplied
MINIMUM = (3, 37, 0)  # pragma_table_list, RETURNING and STRICT

_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MAX_VALUE,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: MAX_SQL,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: MAX_PATTERN,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 100,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 5_000_000,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 32_766,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
# Functions and tables that reach outside the database, in builds of SQLite that have them.
_OUTSIDE = frozenset(
    [
        "load_extension",
        "fts3_tokenizer",
        "readfile",
        "writefile",
        "edit",
        "eval",
        "zipfile",
        "fsdir",
        "lsmode",
        "sqlite_dbpage",
        "sqlite_dbdata",
        "sqlite_dbptr",
    ]
)
# Settings that only tell; those on the right also take the name of what they tell about.
_TELLING = frozenset(
    [
        "application_id",
        "auto_vacuum",
        "cache_size",
        "collation_list",
        "compile_options",
        "data_version",
        "encoding",
        "foreign_keys",
        "freelist_count",
        "function_list",
        "journal_mode",
        "max_page_count",
        "module_list",
        "page_count",
        "page_size",
        "pragma_list",
        "query_only",
        "schema_version",
        "synchronous",
        "user_version",
    ]
)
_ABOUT = frozenset(
    [
        "foreign_key_check",
        "foreign_key_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "integrity_check",
        "quick_check",
        "table_info",
        "table_list",
        "table_xinfo",
    ]
)
_VIRTUAL = frozenset(["fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"])
_CATALOGUE = frozenset(("sqlite_master", "sqlite_schema", "sqlite_temp_master", "sqlite_temp_schema"))

_READS = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
_DATA = frozenset((sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE))
_SCHEMA = {
    sqlite3.SQLITE_CREATE_TABLE: "creates a table",
    sqlite3.SQLITE_CREATE_INDEX: "creates an index",
    sqlite3.SQLITE_CREATE_VIEW: "creates a view",
    sqlite3.SQLITE_CREATE_TRIGGER: "creates a trigger",
    sqlite3.SQLITE_CREATE_VTABLE: "creates a virtual table",
    sqlite3.SQLITE_DROP_TABLE: "drops a table",
    sqlite3.SQLITE_DROP_INDEX: "drops an index",
    sqlite3.SQLITE_DROP_VIEW: "drops a view",
    sqlite3.SQLITE_DROP_TRIGGER: "drops a trigger",
    sqlite3.SQLITE_DROP_VTABLE: "drops a virtual table",
    sqlite3.SQLITE_ALTER_TABLE: "alters a table",
    sqlite3.SQLITE_REINDEX: "rebuilds an index",
    sqlite3.SQLITE_ANALYZE: "gathers statistics",
}
_TEMPORARY = frozenset(
    getattr(sqlite3, f"SQLITE_{verb}_TEMP_{noun}")
    for verb in ("CREATE", "DROP")
    for noun in ("INDEX", "TABLE", "TRIGGER", "VIEW")
)
READING = _READS
EXPLAINING = _READS | _DATA
WRITING = _READS | _DATA | _SCHEMA.keys()
DESCRIBING = _READS | {sqlite3.SQLITE_CREATE_TEMP_VIEW, sqlite3.SQLITE_DROP_TEMP_VIEW}


class Event(NamedTuple):
    """One thing a statement does, as SQLite reports it. `inner` names the trigger or view it happens in."""

    action: int
    first: str | None
    second: str | None
    schema: str | None
    inner: str | None


class Guard:
    """Says yes or no to each event of a statement that is being compiled, and remembers them."""

    def __init__(self, allowed: Iterable[int]) -> None:
        self.allowed = frozenset(allowed)
        self.events: list[Event] = []
        self.refusal: Problem | None = None
        self.ours = False
        """A statement of this program, not of the caller: BEGIN, COMMIT and the like."""

    def __call__(self, *event: object) -> int:
        if self.ours:
            return sqlite3.SQLITE_OK
        happening = Event(*event)  # pyright: ignore[reportArgumentType] - as sqlite3 calls it
        self.events.append(happening)
        refusal = self._refuse(happening)
        if refusal is None:
            return sqlite3.SQLITE_OK
        self.refusal = self.refusal or Problem(refusal)
        return sqlite3.SQLITE_DENY

    def begin(self, allowed: Iterable[int]) -> None:
        """Forget what was, and go by another list from now on."""
        self.allowed = frozenset(allowed)
        self.events = []
        self.refusal = None

    def _refuse(self, event: Event) -> str | None:
        action, first, second = event.action, event.first or "", event.second or ""
        if action == sqlite3.SQLITE_FUNCTION:
            return f"The function {second}() is switched off here." if second.lower() in _OUTSIDE else None
        if action == sqlite3.SQLITE_PRAGMA:
            return _refuse_setting(first.lower(), event.second)
        if action == sqlite3.SQLITE_READ and first.lower() in _OUTSIDE:
            return f"The table {first} is switched off here."
        if action == sqlite3.SQLITE_CREATE_VTABLE and second.lower() not in _VIRTUAL:
            return f"Virtual tables of the kind {second} are switched off here: fts5 and rtree are not."
        if action in self.allowed or self._declares(event):
            return None
        return _refuse_action(action)

    def _declares(self, event: Event) -> bool:
        """Whether this is how SQLite notes the columns of a virtual table or a temporary view in its catalogue.

        The catalogue itself cannot be written by such a statement: that takes a setting which is refused.
        """
        if event.first not in _CATALOGUE:
            return False
        return event.action == sqlite3.SQLITE_UPDATE or (
            event.schema == "temp" and event.action in _DATA and self.allowed == DESCRIBING
        )


def _refuse_setting(name: str, value: str | None) -> str | None:
    if name in _ABOUT or (name in _TELLING and value is None):
        return None
    return f"PRAGMA {name} cannot be {'set' if name in _TELLING else 'used'} here."


def _refuse_action(action: int) -> str:
    if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH):
        return "No other file can be attached, and no copy be made: name the database file as `database`."
    if action in (sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT):
        return "Each call is a transaction of its own: leave BEGIN, COMMIT and SAVEPOINT out."
    if action in _TEMPORARY:
        return "Temporary tables, views and triggers would be gone with this call: use a WITH clause."
    return "This statement would change the database: only reading is allowed here, use write_query."


def schema_change(events: Iterable[Event]) -> str | None:
    """What a statement does to the schema, in words."""
    found = [event for event in events if event.action in _SCHEMA]
    return _SCHEMA[found[0].action] if found else None


def settle(connection: sqlite3.Connection, *, write: bool) -> None:
    """Switch on every safety SQLite has. Done before the guard listens and before anybody's SQL runs."""
    if sqlite3.sqlite_version_info < MINIMUM:
        raise Problem(f"SQLite {sqlite3.sqlite_version} is too old: 3.37 or later is needed.")
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    if hasattr(connection, "enable_load_extension"):
        connection.enable_load_extension(False)
    for setting in ("trusted_schema=0", "cell_size_check=1", "mmap_size=0", "foreign_keys=1"):
        connection.execute(f"PRAGMA {setting}")
    connection.execute(f"PRAGMA hard_heap_limit={MAX_HEAP}")
    if not write:
        connection.execute("PRAGMA query_only=1")
    if hasattr(connection, "setconfig"):  # Python 3.12
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)  # pyright: ignore
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, False)  # pyright: ignore
