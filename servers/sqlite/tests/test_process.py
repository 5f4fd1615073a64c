"""The server as a process: what was acknowledged is there after kill -9, and the end is quick."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio
from mcp_server_sqlite.running import MAX_STUCK

from .asking import ask, call, refusal
from .test_running import ENDLESS

pytestmark = pytest.mark.anyio

COMMAND = [sys.executable, "-m", "mcp_server_sqlite"]
KILLS = int(os.environ.get("SQLITE_KILLS", "5"))


class Raw:
    """A server on bare pipes."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._number = 0
        client = {"name": "test", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.post(method, params)
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())["result"]

    def post(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()


@contextmanager
def serving(*arguments: str) -> Generator[Raw]:
    raw = Raw(*arguments)
    try:
        yield raw
    finally:
        raw.process.kill()
        raw.process.communicate()


@pytest.mark.parametrize("attempt", range(KILLS))
def test_what_was_acknowledged_survives_kill_9(attempt: int, shop: Path) -> None:
    with serving("--db-path", str(shop)) as server:
        count = 5 + attempt * 3
        for at in range(count):
            query = {"query": "INSERT INTO customers (name) VALUES (?)", "params": [f"kept {at}"]}
            result = server.ask("tools/call", {"name": "write_query", "arguments": query})
            assert result["structuredContent"]["affected_rows"] == 1
        for at in range(20):  # and some that are in flight
            query = {"query": "INSERT INTO customers (name) VALUES (?)", "params": [f"perhaps {at}"]}
            server.post("tools/call", {"name": "write_query", "arguments": query})
        os.kill(server.process.pid, signal.SIGKILL)
        server.process.wait()
    assert ask(shop, "SELECT count(*) FROM customers WHERE name LIKE 'kept %'") == [(count,)]
    assert ask(shop, "PRAGMA integrity_check") == [("ok",)]


# One call of a function, within which SQLite does not look whether it should stop: for minutes.
DEAF = "SELECT instr(printf('%.*c', 4000000, 'a'), printf('%.*c', 2000000, 'a') || 'b')"


@pytest.mark.parametrize("query", [ENDLESS, DEAF])
@pytest.mark.parametrize("how", ["end of input", "SIGTERM", "SIGINT"])
def test_an_endless_query_does_not_keep_the_process_alive(how: str, query: str, shop: Path) -> None:
    with serving("--db-path", str(shop), "--timeout", "600") as server:
        for _ in range(3):
            server.post("tools/call", {"name": "read_query", "arguments": {"query": query}})
        result = server_answer(server)
        assert result
        began = time.monotonic()
        if how == "end of input":
            assert server.process.stdin is not None
            server.process.stdin.close()
            server.process.stdin = None
        else:
            server.process.send_signal(signal.SIGTERM if how == "SIGTERM" else signal.SIGINT)
        server.process.wait(5)
        assert time.monotonic() - began < 2.5
        assert server.process.stderr is not None
        assert b"Traceback" not in server.process.stderr.read()


def test_what_sqlite_cannot_stop_is_answered_at_its_deadline(shop: Path) -> None:
    with serving("--db-path", str(shop), "--timeout", "0.3") as server:
        said = ""
        for _ in range(10 * MAX_STUCK):  # some may be stopped before they are deaf
            result = server.ask("tools/call", {"name": "read_query", "arguments": {"query": DEAF}})
            said = result["content"][0]["text"]
            if "Stopped after 0.3 seconds" not in said:
                break
        assert "restart the server" in said


def test_what_ends_after_its_deadline_is_not_committed(shop: Path) -> None:
    deaf = "instr(printf('%.*c', 400000, 'a'), printf('%.*c', 200000, 'a') || 'b')"
    with serving("--db-path", str(shop), "--timeout", "0.1") as server:
        query = {"query": f"INSERT INTO customers (name) VALUES ({deaf})"}
        result = server.ask("tools/call", {"name": "write_query", "arguments": query})
        assert "nothing was changed" in result["content"][0]["text"]
        with closing(sqlite3.connect(shop, timeout=120, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")  # waits until it has ended
            assert other.execute("SELECT count(*) FROM customers").fetchone() == (3,)


def server_answer(server: Raw) -> dict[str, Any]:
    """An ordinary answer while the endless ones run."""
    return server.ask("tools/call", {"name": "read_query", "arguments": {"query": "SELECT 1"}})


async def test_two_processes_lose_nothing(shop: Path) -> None:
    async with (
        Client(stdio([*COMMAND, "--db-path", str(shop)])) as one,
        Client(stdio([*COMMAND, "--db-path", str(shop)])) as two,
        anyio.create_task_group() as tasks,
    ):
        for client, name in ((one, "one"), (two, "two")):
            tasks.start_soon(_insert, client, name)
    assert ask(shop, "SELECT count(DISTINCT name) FROM customers WHERE id > 3") == [(60,)]


async def _insert(client: Client, name: str) -> None:
    for at in range(30):
        query = "INSERT INTO customers (name) VALUES (?)"
        assert await call(client, "write_query", query=query, params=[f"{name} {at}"])


async def test_the_options_reach_the_server(shop: Path) -> None:
    command = [*COMMAND, "--db-path", str(shop), "--read-only", "--timeout", "0.2", "--confirm"]
    async with Client(stdio(command)) as client:
        names = {tool["name"] for tool in await client.list_tools()}
        assert names.isdisjoint({"write_query", "create_table", "append_insight"})
        assert "0.2 seconds" in await refusal(client, "read_query", query=ENDLESS)
    async with Client(stdio([*COMMAND, "--db-path", str(shop), "--confirm"])) as client:
        assert "--confirm" in await refusal(client, "write_query", query="DROP TABLE orders")


@pytest.mark.parametrize("arguments", [["--timeout", "0"], ["--timeout", "x"], ["--db-path", ""]])
def test_options_that_make_no_sense_are_refused(arguments: list[str]) -> None:
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert "error:" in done.stderr


async def test_a_huge_answer_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "huge.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t (a INTEGER, b TEXT)")
        connection.execute(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 200000) "
            "INSERT INTO t SELECT x, printf('%.*c', 50, 'x') FROM c"
        )
    with serving("--db-path", str(path)) as server:
        query = {"query": "SELECT * FROM t", "limit": 1_000_000}
        result = server.ask("tools/call", {"name": "read_query", "arguments": query})
        assert result["structuredContent"]["truncated"] is True
        peak = peak_mib(server)
    assert peak < 80


@pytest.mark.parametrize(
    ("tool", "query"),
    [
        ("read_query", "SELECT zeroblob(30000000) FROM customers a, customers b, customers c"),
        (
            "read_query",
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 100) "
            "SELECT CASE WHEN x < 3 THEN x ELSE zeroblob(8000000) END FROM n",
        ),
        ("write_query", "UPDATE customers SET city = zeroblob(30000000) WHERE id < 9 RETURNING *"),
    ],
)
def test_many_huge_values_take_little_memory(tool: str, query: str, shop: Path) -> None:
    with serving("--db-path", str(shop)) as server:
        result = server.ask("tools/call", {"name": tool, "arguments": {"query": query}})
        assert result["structuredContent"]["rows"]
        peak = peak_mib(server)
    assert peak < 400


def peak_mib(server: Raw) -> int:
    """The most memory that a process ever had."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) // 1024
