"""The server as a host and an operator see it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Client, McpError, http, stdio
from mcp_server_core.testing import Revision, connect
from mcp_server_sequential_thinking import __version__
from mcp_server_sequential_thinking.server import build

from .talking import noted, review, serving, text_of, think

pytestmark = pytest.mark.anyio
COMMAND = [sys.executable, "-m", "mcp_server_sequential_thinking"]
README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


async def test_it_says_who_it_is(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        assert client.server["name"] == "mcp-server-sequential-thinking"
        assert client.server["version"] == __version__


async def test_the_prompt_carries_the_guidance(revision: Revision) -> None:
    async with connect(build(), revision=revision) as client:
        (listed,) = await client.list_prompts()
        got = await client.get_prompt("think_it_through", {"problem": "Why is it slow?", "thoughts": "7"})
        text = got["messages"][0]["content"]["text"]
        with pytest.raises(McpError):
            await client.get_prompt("think_it_through", {})
    assert [argument["name"] for argument in listed["arguments"]] == ["problem", "thoughts"]
    assert "Why is it slow?" in text
    assert "about 7 thoughts" in text


async def test_the_definitions_cost_what_the_readme_says() -> None:
    async with connect(build(), revision="2025-11-25") as client:
        tools = await client.list_tools()
    size = len(json.dumps({"tools": tools}, ensure_ascii=False, separators=(",", ":")).encode())
    assert f"{size:,} bytes" in README
    assert size < 4800
    assert len(tools[0]["description"]) < 600


async def test_only_reading_is_left_with_read_only(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    async with connect(build(store=store)) as client:
        handle = (await noted(client, 1, "kept"))["thinkingId"]
    async with Client(stdio([*COMMAND, "--read-only", "--store", store])) as client:
        assert [tool["name"] for tool in await client.list_tools()] == ["review_thinking"]
        assert "kept" in await review(client, thinkingId=handle)


async def test_a_killed_server_has_kept_what_it_acknowledged(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    pids = tmp_path / "pid"
    program = "import os, sys; open(sys.argv.pop(1), 'w').write(str(os.getpid())); " + (
        "from mcp_server_sequential_thinking.__main__ import main; main()"
    )
    command = [sys.executable, "-c", program, str(pids), "--store", store]
    async with Client(stdio(command), revision="2025-11-25") as client:
        handle = (await noted(client, 1))["thinkingId"]
        for number in range(2, 6):
            await noted(client, number, f"number {number}")
        os.kill(int(pids.read_text()), signal.SIGKILL)
    async with Client(stdio([*COMMAND, "--store", store]), revision="2026-07-28") as client:
        assert "number 5" in await review(client, thinkingId=handle)
        assert (await noted(client, 6, thinkingId=handle))["thoughtHistoryLength"] == 6


async def test_fifty_thoughts_at_once_are_all_kept(tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    async with connect(build(store=store), revision="2026-07-28") as client:
        handle = (await noted(client, 1))["thinkingId"]
        async with anyio.create_task_group() as tasks:
            for number in range(2, 52):
                tasks.start_soon(_think_at, client, number, handle)
    async with connect(build(store=store), revision="2026-07-28") as client:
        text = await review(client, thinkingId=handle, view="markdown")
    assert sorted(map(int, re.findall(r"## Thought (\d+) of", text))) == list(range(1, 52))


async def _think_at(client: Client, number: int, handle: str) -> None:
    await noted(client, number, thinkingId=handle)


async def test_a_store_that_cannot_be_used_is_explained_without_its_path(tmp_path: Path) -> None:
    other = tmp_path / "notes.md"
    other.write_text("# Mine\n")
    async with connect(build(store=str(other))) as client:
        result = await think(client, 1)
    assert result["isError"] is True
    assert "--store cannot be used, it is a file of another kind" in text_of(result)
    assert str(tmp_path) not in text_of(result)
    assert other.read_text() == "# Mine\n"


async def test_a_store_that_becomes_another_file_is_explained_and_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "store"
    async with connect(build(store=str(store))) as client:
        handle = (await noted(client, 1))["thinkingId"]
        store.write_text("# Mine\n")
        results = [
            await think(client, 2, thinkingId=handle),
            await client.call_tool("review_thinking", {"thinkingId": handle}),
        ]
    assert all("it is a file of another kind" in text_of(result) for result in results)
    assert store.read_text() == "# Mine\n"


def test_thoughts_are_not_in_the_log_unless_it_is_asked_for() -> None:
    line = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",'
        b'"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n'
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sequentialthinking","arguments":'
        b'{"thought":"red \\u001b[31m\\nalert","thoughtNumber":1,"totalThoughts":1,"nextThoughtNeeded":false}}}\n'
    )
    for level, expected in (("info", b""), ("debug", b"thought 1 of 1: red \\x1b[31m alert")):
        done = subprocess.run(
            [*COMMAND, "--log-level", level], input=line, capture_output=True, timeout=30, check=True
        )
        logged = [entry for entry in done.stderr.split(b"\n") if b"thinking" in entry]
        assert b"".join(entry.partition(b": ")[2] for entry in logged) == expected
        assert b"\x1b" not in done.stderr


def test_several_processes_need_a_store() -> None:
    done = subprocess.run(
        [*COMMAND, "--transport", "http", "--workers", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "--workers needs --store" in done.stderr


async def test_a_chain_is_found_by_whichever_process_is_asked(tmp_path: Path) -> None:
    with serving("--workers", "2", "--store", str(tmp_path / "store")) as url:
        async with Client(http(url), revision="2026-07-28") as client:
            handle = (await noted(client, 1))["thinkingId"]
        for number in range(2, 12):
            async with Client(http(url), revision="2026-07-28") as client:
                assert (await noted(client, number, thinkingId=handle))["thoughtHistoryLength"] == number


def test_a_directory_that_is_a_file_is_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = subprocess.run([*COMMAND, str(tmp_path / "file")], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "is a file" in done.stderr
