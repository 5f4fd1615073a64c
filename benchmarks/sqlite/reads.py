"""Reading: small, large and huge answers, and the memory they take."""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, cast

from ..conversation import Conversation, Timed
from ..messages import WrongAnswerError
from ..sheet import Column, Sheet
from .data import ROWS

SIZES = {"read_10": 10, "read_10k": 10_000, "read_100k": ROWS}
CPU = {"read_10k": "read_10k_cpu", "read_100k": "read_100k_cpu"}


def arguments(name: str, count: int) -> dict[str, Any]:
    """The query, as each server wants it; only ours has a limit of its own."""
    query = f"SELECT * FROM orders LIMIT {count}"
    return {"query": query, "limit": count} if name == "ours" else {"query": query}


def measure_reads(sheet: Sheet, commands: Mapping[str, Sequence[str]], database: Path, rounds: int) -> None:
    """Everybody reads in turn, warm, the floor too."""
    with ExitStack() as stack:
        servers = {name: stack.enter_context(Conversation(command)) for name, command in commands.items()}
        for name, server in servers.items():
            server.call("read_query", arguments(name, 10))
        fetching: dict[int, list[float]] = {count: [] for count in SIZES.values()}
        for _ in range(rounds):
            for quantity, count in SIZES.items():
                _take(sheet, servers, database, quantity, count)
                fetching[count].append(_fetch(database, count) * 1000)
        shares = ", ".join(f"{count:,} rows {min(times):.1f} ms" for count, times in fetching.items())
        sheet.note(
            f"of this, what fetching alone takes with Python's sqlite3, no answer made of it: {shares}"
        )


def _take(
    sheet: Sheet, servers: Mapping[str, Conversation], database: Path, quantity: str, count: int
) -> None:
    for name, server in servers.items():
        column = cast("Column", name)
        timed = server.call("read_query", arguments(name, count))
        _check(timed, count)
        sheet.add(quantity, column, timed.wall * 1000, cpu=timed.cpu * 1000)
        if quantity in CPU:
            sheet.add(CPU[quantity], column, timed.cpu * 1000)
    began = time.perf_counter()
    _plainly(database, count)
    sheet.add(quantity, "floor", (time.perf_counter() - began) * 1000)


def _check(timed: Timed, count: int) -> None:
    """The last row is there, and as often as it should be."""
    if f"2026-01-{(count - 1) % 28 + 1:02d}" not in timed.text[-200:]:
        raise WrongAnswerError(f"not {count} rows: ...{timed.text[-200:]}")


def _plainly(database: Path, count: int) -> str:
    """The least a program does that answers with objects as JSON."""
    with closing(sqlite3.connect(database)) as connection:
        connection.row_factory = sqlite3.Row
        rows = connection.execute("SELECT * FROM orders LIMIT ?", (count,)).fetchall()
        return json.dumps([dict(row) for row in rows])


def _fetch(database: Path, count: int) -> float:
    """Seconds of taking the rows out of the database and throwing them away: no Python server can take less."""
    with closing(sqlite3.connect(database)) as connection:
        began = time.perf_counter()
        cursor = connection.execute("SELECT * FROM orders LIMIT ?", (count,))
        while cursor.fetchmany(1000):
            pass
        return time.perf_counter() - began


def measure_memory(sheet: Sheet, commands: Mapping[str, Sequence[str]]) -> None:
    """What one huge answer takes, and what many answers of an ordinary size do."""
    for name, command in commands.items():
        with Conversation(command) as server:
            server.call("read_query", arguments(name, ROWS))
            sheet.add("peak", cast("Column", name), server.peak_mib())
    ordinary = [part for part in commands["ours"] if part not in ("--max-result-chars", "100000000")]
    with Conversation(ordinary) as server:
        query: dict[str, Any] = {"query": "SELECT * FROM orders", "limit": ROWS}
        given = server.call("read_query", query).results[0]["structuredContent"]
        pages = 1
        while given["truncated"] and pages < 40:
            cursor = given["cursor"]
            given = server.call("read_query", {**query, "cursor": cursor}).results[0]["structuredContent"]
            pages += 1
        sheet.add("endless", "ours", server.peak_mib())
        sheet.note(f"paging: {pages} pages of at most 100,000 characters")
