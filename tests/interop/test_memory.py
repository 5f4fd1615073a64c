"""The memory server with clients that nobody here wrote, and with the files of the server people use today."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from .errand import call, complete, every_errand_client, list_all, read, run_errand, run_program, watch
from .foreign import Foreign

ADA = {"name": "Ada", "entityType": "person", "observations": ["likes maths"]}
ENGINE = {"name": "Engine", "entityType": "machine", "observations": []}
BUILDS = {"from": "Ada", "to": "Engine", "relationType": "builds"}
PEER = "@modelcontextprotocol/server-memory"
VERSION = "2026.8.31"

# Another client, of another server process on the same store, adds an observation.
ADDING = """
import sys, anyio
from mcp_server_core import Client, stdio

async def main():
    command = [sys.executable, "-m", "mcp_server_memory", "--store", sys.argv[1]]
    async with Client(stdio(command)) as client:
        addition = {"observations": [{"entityName": "Ada", "contents": ["seen from elsewhere"]}]}
        result = await client.call_tool("add_observations", addition)
        assert not result.get("isError"), result

anyio.run(main)
"""


@every_errand_client
def test_two_processes_on_one_store_serve_two_clients(foreign: Foreign, tmp_path: Path) -> None:
    store = str(tmp_path / "memory.sqlite3")
    server = [sys.executable, "-m", "mcp_server_memory", "--store", store]
    steps = [
        list_all("tools"),
        call("create_entities", entities=[ADA, ENGINE]),
        call("create_relations", relations=[BUILDS]),
        call("search_nodes", query="math"),
        complete("memory://entities/{name}", "name", "a"),
        watch("memory://entities/Ada", run_program([sys.executable, "-c", ADDING, store])),
        read("memory://entities/Ada"),
        call("delete_entities", entityNames=["Engine"]),
        call("undo"),
        call("read_graph"),
        call("create_relations", relations=[{**BUILDS, "to": "Nobody"}]),
    ]
    seen = run_errand(foreign, server, steps, tmp_path)
    assert seen.revision == foreign.revision
    assert len(seen.results[0]["tools"]) == 13
    assert json.loads(seen.text(3)) == {"entities": [ADA], "relations": [BUILDS]}
    assert seen.results[4]["completion"]["values"] == ["Ada"]
    assert seen.results[5] == ["memory://entities/Ada"]
    assert "seen from elsewhere" in seen.results[6]["contents"][0]["text"]
    grown = {**ADA, "observations": ["likes maths", "seen from elsewhere"]}
    assert json.loads(seen.text(9)) == {"entities": [grown, ENGINE], "relations": [BUILDS]}
    assert seen.results[10]["isError"] is True


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The memory server people use today."""
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("node is not on this machine")
    folder = tmp_path_factory.mktemp("peer")
    (folder / "package.json").write_text('{"private": true}\n')
    install = [npm, "install", "--no-audit", "--no-fund", "--no-package-lock", f"{PEER}@{VERSION}"]
    if subprocess.run(install, cwd=folder, capture_output=True, check=False, timeout=300).returncode:
        pytest.skip("the known server could not be installed")
    return [node, str(folder / "node_modules" / PEER / "dist" / "index.js")]


@contextmanager
def conversation(command: list[str], env: dict[str, str]) -> Generator[Callable[[str, dict[str, Any]], Any]]:
    """A running server, as a function that sends a request and gives its result."""
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **env},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    numbers = count()

    def ask(method: str, params: dict[str, Any]) -> Any:
        assert child.stdin is not None
        assert child.stdout is not None
        message = {"jsonrpc": "2.0", "id": next(numbers), "method": method, "params": params}
        child.stdin.write(json.dumps(message).encode() + b"\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())["result"]

    try:
        client = {"name": "test", "version": "1"}
        ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client})
        child.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        yield ask
    finally:
        child.communicate(timeout=10)


def talk(command: list[str], calls: list[tuple[str, dict[str, Any]]], env: dict[str, str]) -> list[Any]:
    """Call tools of a server, one after the other."""
    with conversation(command, env) as ask:
        return [ask("tools/call", {"name": name, "arguments": arguments}) for name, arguments in calls]


WRITTEN: list[tuple[str, dict[str, Any]]] = [
    (
        "create_entities",
        {
            "entities": [
                {**ADA, "observations": ["twice", "twice", 'a "quote" \\ / \u2028 \x7f \x01', "é 😀", ""]},
                ENGINE,
                {"name": "multi\nline", "entityType": "", "observations": ["\t\b\f\r\n"]},
            ]
        },
    ),
    ("create_relations", {"relations": [BUILDS, {**BUILDS, "relationType": "loves", "to": "Nobody yet"}]}),
    ("add_observations", {"observations": [{"entityName": "Engine", "contents": ["new", "new"]}]}),
    ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["é 😀"]}]}),
]


def test_a_file_of_the_known_server_is_imported_and_exported_equal(peer: list[str], tmp_path: Path) -> None:
    file = tmp_path / "memory.jsonl"
    talk(peer, WRITTEN, {"MEMORY_FILE_PATH": str(file)})
    theirs = file.read_bytes()
    assert theirs.count(b"\n") == 4
    ours = [sys.executable, "-m", "mcp_server_memory", str(tmp_path)]
    (said,) = talk(ours, [("export_graph", {"path": "again.jsonl"})], {"MEMORY_FILE_PATH": str(file)})
    assert not said.get("isError"), said
    assert (tmp_path / "again.jsonl").read_bytes() == theirs
    assert file.read_bytes() == theirs


def test_the_known_server_reads_what_we_export_as_the_same_graph(peer: list[str], tmp_path: Path) -> None:
    ours = [sys.executable, "-m", "mcp_server_memory", "--store", str(tmp_path / "m.sqlite3"), str(tmp_path)]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [ADA, ENGINE]}),
        ("create_relations", {"relations": [BUILDS]}),
        ("export_graph", {"path": "out.jsonl"}),
        ("read_graph", {}),
    ]
    here = talk(ours, calls, {})[-1]
    (there,) = talk(peer, [("read_graph", {})], {"MEMORY_FILE_PATH": str(tmp_path / "out.jsonl")})
    assert there["structuredContent"] == here["structuredContent"]


def test_results_have_the_shape_of_the_known_server(peer: list[str], tmp_path: Path) -> None:
    """Every field of theirs is in ours, with the same value; ours may say more."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("create_entities", {"entities": [ADA, ENGINE]}),
        ("create_entities", {"entities": [ADA]}),
        ("create_relations", {"relations": [BUILDS]}),
        ("create_relations", {"relations": [BUILDS]}),
        ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["likes maths", "x"]}]}),
        ("read_graph", {}),
        ("search_nodes", {"query": "ada"}),
        ("search_nodes", {"query": "MATH"}),
        ("search_nodes", {"query": "nothing"}),
        ("open_nodes", {"names": ["Engine", "Nobody"]}),
        ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": ["x"]}]}),
        ("delete_relations", {"relations": [BUILDS]}),
        ("delete_entities", {"entityNames": ["Engine", "Nobody"]}),
        ("read_graph", {}),
    ]
    theirs = talk(peer, calls, {"MEMORY_FILE_PATH": str(tmp_path / "theirs.jsonl")})
    ours = talk(
        [sys.executable, "-m", "mcp_server_memory", "--store", str(tmp_path / "m.sqlite3")], calls, {}
    )
    for (name, _), their, our in zip(calls, theirs, ours, strict=True):
        expected = {key: value for key, value in their["structuredContent"].items() if key != "message"}
        assert {key: our["structuredContent"][key] for key in expected} == expected, name
        assert "message" not in their["structuredContent"] or our["structuredContent"]["message"]


def test_the_tool_list_is_shorter_than_that_of_the_known_server(peer: list[str], tmp_path: Path) -> None:
    ours = [sys.executable, "-m", "mcp_server_memory"]
    sizes: list[int] = []
    for command in (ours, peer):
        with conversation(command, {"MEMORY_FILE_PATH": str(tmp_path / f"{len(sizes)}.jsonl")}) as ask:
            listed = {"tools": ask("tools/list", {})["tools"]}
        sizes.append(len(json.dumps(listed, separators=(",", ":"), ensure_ascii=False).encode()))
    assert sizes[0] < sizes[1] == 10_760  # the figure in the README
