"""Writing: one row a call, on files of their own, flushed to disk as SQLite does by default."""

import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import cast

from ..conversation import Conversation
from ..sheet import Column, Sheet
from .data import make


def measure_inserts(
    sheet: Sheet,
    commands: Mapping[str, Sequence[str]],
    folder: Path,
    servers: Mapping[str, Sequence[str]],
    rounds: int,
) -> None:
    """Everybody inserts in turn."""
    paths: dict[str, Path] = {}
    for name in (*commands, "floor"):
        (folder / name).mkdir()
        paths[name] = make(folder / name)
    with ExitStack() as stack:
        running = {
            name: stack.enter_context(Conversation([*command, str(paths[name])]))
            for name, command in servers.items()
        }
        for server in running.values():
            server.call("write_query", {"query": "INSERT INTO notes (text) VALUES ('warm')"})
        for at in range(rounds):
            query = f"INSERT INTO notes (text) VALUES ('note {at}')"
            for name, server in running.items():
                timed = server.call("write_query", {"query": query})
                _add(sheet, name, timed.wall, timed.cpu)
            _add(sheet, "floor", _plainly(paths["floor"], query))
    for name, path in paths.items():
        with closing(sqlite3.connect(path)) as connection:
            kept = connection.execute("SELECT count(*) FROM notes").fetchone()[0]
            assert kept == rounds + (name != "floor"), f"{name} kept {kept} of {rounds}"


def _add(sheet: Sheet, name: str, wall: float, cpu: float | None = None) -> None:
    for quantity in ("insert", "insert_median"):
        sheet.add(quantity, cast("Column", name), wall * 1000, cpu=None if cpu is None else cpu * 1000)


def _plainly(path: Path, query: str) -> float:
    began = time.perf_counter()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(query)
    return time.perf_counter() - began
