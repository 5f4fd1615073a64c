"""Waiting: for a long query, for a lock, for a writer."""

import json
import sqlite3
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import cast

from ..conversation import Conversation
from ..messages import HANDSHAKE, call_tool
from ..sheet import Column, Sheet

LONG = (
    "SELECT count(*) FROM (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 6000000) "
    "SELECT x FROM c)"
)
SHORT = {"query": "SELECT * FROM orders LIMIT 10"}
READERS = 10


class Listener(Conversation):
    """A conversation in which answers are waited for apart from asking."""

    def listen(self, seconds: float = 120) -> list[bytes]:
        """Answers that came by now, at least a part of one."""
        self._wait(self._readable, time.monotonic() + seconds)
        return self._read()


def measure_short(sheet: Sheet, commands: Mapping[str, Sequence[str]], rounds: int) -> None:
    """A short query, sent right after one that takes seconds."""
    for name, command in commands.items():
        with Listener(command) as server:
            server.call("read_query", SHORT)
            for at in range(rounds):
                sheet.add("short", cast("Column", name), _overtake(server, 10_000 + 2 * at) * 1000)


def _overtake(server: Listener, number: int) -> float:
    """Seconds until the short query is answered; the long one is waited for afterwards."""
    server.tell(call_tool(number, "read_query", {"query": LONG}, HANDSHAKE))
    time.sleep(0.2)  # so that it runs
    began = time.perf_counter()
    answers = [*server.converse([call_tool(number + 1, "read_query", SHORT, HANDSHAKE)])]
    wall = time.perf_counter() - began
    while not any(json.loads(answer)["id"] == number + 1 for answer in answers):
        # The long one was answered first: the short one is still to come.
        answers += server.listen()
        wall = time.perf_counter() - began
    while not any(json.loads(answer)["id"] == number for answer in answers):
        answers += server.listen()
    return wall


def measure_locked(sheet: Sheet, commands: Mapping[str, Sequence[str]], database: Path) -> None:
    """Another program holds the database: is that said as an error?"""
    for name, command in commands.items():
        with Conversation(command) as server, _writing(database):
            query = {"query": "INSERT INTO notes (text) VALUES ('locked out')"}
            result = server.calls("write_query", [query], refusals=True).results[0]
            sheet.add("locked", cast("Column", name), float(bool(result.get("isError"))))


def measure_readers(sheet: Sheet, command: Sequence[str], database: Path, rounds: int) -> None:
    """Ten clients read at once, with and without a transaction that writes meanwhile."""
    with ExitStack() as stack:
        servers = [stack.enter_context(Listener(command)) for _ in range(READERS)]
        for server in servers:
            server.call("read_query", SHORT)
        for _ in range(rounds):
            alone = _read_all(servers)
            with _writing(database):
                beside = _read_all(servers)
            sheet.add("readers", "ours", beside / alone)


def _read_all(servers: Sequence[Listener]) -> float:
    """Seconds until all have read twenty times."""
    began = time.perf_counter()
    line = call_tool(5_000, "read_query", SHORT, HANDSHAKE)
    for _ in range(20):
        for server in servers:
            server.tell(line)
        for server in servers:
            while not server.listen():
                pass
    return time.perf_counter() - began


@contextmanager
def _writing(database: Path) -> Generator[None]:
    """A transaction of another program that has changed something and is not done."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO notes (text) VALUES ('held')")
        try:
            yield
        finally:
            connection.execute("ROLLBACK")
