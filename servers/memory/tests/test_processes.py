"""Several processes on one store, and processes that die: nothing that was acknowledged is lost."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_server_core import Client, stdio
from mcp_server_core.testing import connect
from mcp_server_memory.server import build

pytestmark = pytest.mark.anyio
PROCESSES = int(os.environ.get("MEMORY_TEST_PROCESSES", "3"))
WRITERS = 5
WRITES = int(os.environ.get("MEMORY_TEST_WRITES", "10"))
KILLS = int(os.environ.get("MEMORY_TEST_KILLS", "30"))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # of this side; the processes are what is tested


def serving(store: str) -> list[str]:
    return [sys.executable, "-m", "mcp_server_memory", "--store", store]


def entity(name: str, *observations: str) -> dict[str, Any]:
    return {"name": name, "entityType": "t", "observations": list(observations)}


async def names_in(store: str) -> set[str]:
    async with connect(build(store)) as client:
        names: set[str] = set()
        cursor: dict[str, Any] = {}
        while True:
            page = (await client.call_tool("read_graph", cursor))["structuredContent"]
            names |= {one["name"] for one in page["entities"]}
            if "nextCursor" not in page:
                return names
            cursor = {"cursor": page["nextCursor"]}


async def test_fifty_writes_at_once_are_all_kept(store: str) -> None:
    """The known server keeps one of them."""
    async with Client(stdio(serving(store))) as client:

        async def create(number: int) -> None:
            result = await client.call_tool("create_entities", {"entities": [entity(f"e{number}")]})
            assert "isError" not in result

        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(create, number)
    assert await names_in(store) == {f"e{number}" for number in range(50)}


async def test_many_processes_with_many_writers_lose_nothing(store: str) -> None:
    """They also race for creating the store, and add to one entity that all of them share."""
    expected = {f"p{p}-w{w}-{n}" for p in range(PROCESSES) for w in range(WRITERS) for n in range(WRITES)}

    async def write(client: Client, mark: str) -> None:
        for number in range(WRITES):
            name = f"{mark}-{number}"
            made = await client.call_tool("create_entities", {"entities": [entity("shared"), entity(name)]})
            assert "isError" not in made, made
            addition = [{"entityName": "shared", "contents": [name]}]
            added = await client.call_tool("add_observations", {"observations": addition})
            assert added["structuredContent"]["results"][0]["addedObservations"] == [name]

    async def run(process: int) -> None:
        async with Client(stdio(serving(store))) as client, anyio.create_task_group() as tasks:
            for writer in range(WRITERS):
                tasks.start_soon(write, client, f"p{process}-w{writer}")

    async with anyio.create_task_group() as tasks:
        for process in range(PROCESSES):
            tasks.start_soon(run, process)
    assert await names_in(store) == expected | {"shared"}
    async with connect(build(store)) as client:
        result = await client.call_tool("open_nodes", {"names": ["shared"]})
    assert set(result["structuredContent"]["entities"][0]["observations"]) == expected


def test_an_import_at_start_happens_once_however_many_start(tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    lines = [json.dumps({"type": "entity", **entity(f"e{n}", "x", "x")}) for n in range(500)]
    file.write_text("\n".join(lines))
    read = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "read_graph", "arguments": {}},
    }
    opening = [initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, read]
    talk = "".join(json.dumps(message) + "\n" for message in opening).encode()
    children = [
        subprocess.Popen(serving(str(file)), stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)
    ]
    for child in children:
        assert child.stdin is not None
        child.stdin.write(talk)
        child.stdin.flush()
    for child in children:
        assert child.stdout is not None
        assert b'"id":1' in child.stdout.readline()
        graph = json.loads(child.stdout.readline())["result"]["structuredContent"]
        assert graph["entities"][0]["observations"] == ["x", "x"]
        child.communicate(timeout=10)
    look = sqlite3.connect(f"{file}.sqlite3")
    assert look.execute("SELECT count(*) FROM entity").fetchone() == (500,)
    assert look.execute("SELECT count(*) FROM change").fetchone() == (1,)
    look.close()


def initialize() -> dict[str, Any]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def write_until_killed(store: str, life: int, after: int) -> list[str]:
    """Send writes without pause, kill the server when so many were acknowledged; the names that were."""
    child = subprocess.Popen(serving(store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    messages = [initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    for number in range(200):
        call = {
            "name": "create_entities",
            "arguments": {"entities": [entity(f"k{life}-{number}", "x" * 500)]},
        }
        messages.append({"jsonrpc": "2.0", "id": 100 + number, "method": "tools/call", "params": call})
    child.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())
    acknowledged: list[str] = []
    lines = iter(child.stdout.readline, b"")
    for line in lines:
        answer = json.loads(line)
        if answer["id"] >= 100:
            assert "isError" not in answer["result"], answer
            acknowledged.append(f"k{life}-{answer['id'] - 100}")
        if len(acknowledged) == after:
            child.send_signal(signal.SIGKILL)
            break
    for line in lines:  # what it had said before it died
        if line.endswith(b"\n"):
            acknowledged.append(f"k{life}-{json.loads(line)['id'] - 100}")
    child.stdin.close()
    child.stdout.close()
    child.wait()
    return acknowledged


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
async def test_every_acknowledged_fact_survives_being_killed(store: str) -> None:
    chance = random.Random(7)
    acknowledged: set[str] = set()
    sent: set[str] = set()
    for life in range(KILLS):
        acknowledged |= set(
            await anyio.to_thread.run_sync(write_until_killed, store, life, chance.randint(1, 120))
        )
        sent |= {f"k{life}-{number}" for number in range(200)}
    kept = await names_in(store)
    assert acknowledged <= kept <= sent
    assert len(acknowledged) < len(sent)  # they were in the middle of it
    async with connect(build(store)) as client:
        found = await client.call_tool("search_nodes", {"query": f"k{KILLS - 1}", "limit": 1000})
        assert found["structuredContent"]["entities"]
        assert "notice" not in found["structuredContent"]  # and nothing was damaged
    look = sqlite3.connect(store)
    assert look.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert look.execute("PRAGMA foreign_key_check").fetchall() == []
    for index in ("words", "parts"):
        look.execute(f"INSERT INTO {index} ({index}) VALUES ('integrity-check')")
    look.close()


def test_a_server_that_waits_for_a_locked_store_still_ends_when_its_client_is_gone(store: str) -> None:
    child = subprocess.Popen(serving(store), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None

    def say(*messages: dict[str, Any]) -> None:
        assert child.stdin is not None
        child.stdin.write("".join(json.dumps(message) + "\n" for message in messages).encode())

    def creation(name: str, number: int) -> dict[str, Any]:
        call = {"name": "create_entities", "arguments": {"entities": [entity(name)]}}
        return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call}

    say(initialize(), {"jsonrpc": "2.0", "method": "notifications/initialized"}, creation("before", 2))
    assert json.loads(child.stdout.readline())["id"] == 1
    assert json.loads(child.stdout.readline())["id"] == 2
    other = sqlite3.connect(store, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    say(creation("during", 3), {"jsonrpc": "2.0", "id": 4, "method": "ping"})
    assert json.loads(child.stdout.readline())["id"] == 4  # the write waits, nobody else does
    child.stdin.close()
    assert child.wait(timeout=3) == 0
    child.stdout.close()
    other.close()
