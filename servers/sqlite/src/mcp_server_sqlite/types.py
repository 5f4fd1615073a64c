"""The declared types of a query's columns. Python's sqlite3 does not tell them, but SQLite knows them for the columns
of a view: a temporary one is made of the query, which does not run it, and is gone with the connection.
"""

import sqlite3

from .guard import DESCRIBING
from .running import Session
from .statement import bare, without_parameters

_VIEW = "mcp_described_query"


class Types:
    """The types of one query's columns, empty for expressions."""

    def __init__(self, sql: str) -> None:
        self._sql = sql
        self._found: list[str] = []

    def of(self, count: int) -> list[str]:
        """One for each column."""
        return self._found if len(self._found) == count else [""] * count

    def find(self, running: Session) -> None:
        """Look them up, before the query runs."""
        connection, guard = running.connection, running.guard
        allowed = guard.allowed
        running.command("PRAGMA query_only=0")  # even a temporary view counts as writing
        guard.begin(DESCRIBING)
        try:
            connection.execute(f"CREATE TEMP VIEW {_VIEW} AS {without_parameters(bare(self._sql))}")
            self._found = [row[2] for row in connection.execute(f"PRAGMA temp.table_info({_VIEW})")]
        except (sqlite3.Error, sqlite3.Warning, ValueError):
            pass  # no SELECT, or a wrong one: running it says what is wrong
        finally:
            running.command("PRAGMA query_only=1")
            guard.begin(allowed)
