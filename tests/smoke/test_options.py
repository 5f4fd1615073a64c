"""The options that all servers share do what they say."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from mcp_server_core import Answers, Client, stdio

pytestmark = pytest.mark.anyio

SERVER = [sys.executable, "-m", "mcp_server_filesystem"]
TOOL = "list_allowed_directories"


async def directories(*arguments: str, roots: list[str] | None = None) -> str:
    async with Client(stdio([*SERVER, *arguments]), answers=Answers(roots=roots)) as client:
        with anyio.fail_after(10):
            return (await client.call_tool(TOOL))["content"][0]["text"]


async def tools(*arguments: str) -> list[str]:
    async with Client(stdio([*SERVER, *arguments]), revision="2025-11-25") as client:
        if "tools" not in client.capabilities:
            return []
        with anyio.fail_after(10):
            return [tool["name"] for tool in await client.list_tools()]


async def test_a_tool_that_is_named_is_offered() -> None:
    assert await tools("--tools", TOOL) == [TOOL]


async def test_a_tool_that_is_taken_out_is_not_offered() -> None:
    offered = await tools("--no-tools", TOOL)
    assert TOOL not in offered
    assert "read_text_file" in offered


async def test_a_tool_that_only_reads_stays_in_read_only_mode() -> None:
    offered = await tools("--read-only")
    assert TOOL in offered
    assert {"write_file", "edit_file", "delete_file"}.isdisjoint(offered)


def test_a_misspelt_tool_stops_the_start_with_the_names_there_are() -> None:
    ended = subprocess.run([*SERVER, "--tools", "nope"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("mcp-server-filesystem: no tool is called nope; there are: ")
    assert TOOL in ended.stderr


def test_a_file_in_the_place_of_a_directory_stops_the_start_with_a_reason(tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    file.touch()
    ended = subprocess.run([*SERVER, str(file)], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "is a file: name the directory that holds it" in ended.stderr


async def test_read_only_takes_the_right_to_write_from_every_directory(tmp_path: Path) -> None:
    assert await directories("--read-only", str(tmp_path)) == f"{tmp_path} (read only, configured)"


async def test_roots_are_not_looked_at_when_the_operator_says_so(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    shown = await directories("--roots", "ignore", str(tmp_path), roots=[inner.as_uri()])
    assert shown == f"{tmp_path} (read and write, configured)"


async def test_roots_replace_the_configured_directories_when_the_operator_says_so(tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    shown = await directories("--roots", "replace", str(ours), roots=[theirs.as_uri()])
    assert shown.startswith(f"{theirs} (")


async def test_a_result_over_the_bound_is_refused_with_its_size(tmp_path: Path) -> None:
    shown = await directories("--max-result-chars", "10", str(tmp_path))
    assert "more than the 10 allowed" in shown


def test_a_message_over_the_bound_is_refused(tmp_path: Path) -> None:
    long = str(tmp_path) + "x" * 2_000_000
    process = subprocess.run(
        [*SERVER, "--max-message-mib", "1"],
        input=f'{{"jsonrpc":"2.0","id":1,"method":"{long}"}}\n{{"jsonrpc":"2.0","id":2,"method":"ping"}}\n',
        capture_output=True,
        text=True,
        check=True,
    )
    refused, answered = process.stdout.splitlines()
    assert "-32700" in refused
    assert answered == '{"jsonrpc":"2.0","id":2,"result":{}}'
