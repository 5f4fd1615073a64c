"""The least that a durable write can cost: ten rows into a plain table, and one synced commit."""

import sqlite3
import time
from pathlib import Path
from types import TracebackType
from typing import Self


class Floor:
    """A plain SQLite file."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, text TEXT)")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def write(self, rows: int) -> float:
        """Seconds for one commit of so many rows."""
        began = time.perf_counter()
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO fact (text) VALUES (?)", [("a fact of some length " * 8,)] * rows
        )
        self._connection.execute("COMMIT")
        return time.perf_counter() - began
