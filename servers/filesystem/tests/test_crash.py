"""Killed processes and full disks, through the tools of a real process.

`KILLS` says how often the process is killed; the default is enough to hit different moments of a write.
"""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from .conftest import contents, names

KILLS = int(os.environ.get("KILLS", "8"))
LINES = 20_000
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
# A disk that is full, as far as a process can tell: no file of it grows beyond this size.
FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
from mcp_server_filesystem.__main__ import main
main(sys.argv[1:])
"""


class Peer:
    """A server process, spoken to line by line."""

    def __init__(self, child: "subprocess.Popen[bytes]") -> None:
        self.child = child
        self._id = 0

    def send(self, tool: str, **arguments: Any) -> None:
        assert self.child.stdin is not None
        self._id += 1
        params = {"name": tool, "arguments": arguments, "_meta": META}
        message = {"jsonrpc": "2.0", "id": self._id, "method": "tools/call", "params": params}
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.child.stdout is not None
        return json.loads(self.child.stdout.readline())["result"]

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        self.send(tool, **arguments)
        return self.receive()


@contextmanager
def peer(*command: str) -> Generator[Peer]:
    child = subprocess.Popen([sys.executable, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    try:
        yield Peer(child)
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
        with suppress(BrokenPipeError):  # what was not read any more is of no interest
            child.stdin.close()


def numbered(number: int) -> str:
    return f"{number:08}\n" * LINES


def number_in(data: bytes) -> int:
    """The number of a complete content; anything torn fails."""
    number = int(data[:8])
    assert data == numbered(number).encode(), "neither the old file nor the new one"
    return number


@pytest.mark.parametrize("tool", ["write_file", "edit_file"])
def test_a_server_killed_at_any_moment_leaves_the_old_file_or_the_new_one(root: Path, tool: str) -> None:
    path = root / "a.txt"
    path.write_text(numbered(0))
    number = 0
    for round_ in range(KILLS):
        with peer("-m", "mcp_server_filesystem", str(root)) as server:
            change(server, tool, number, number + 1)
            assert not server.receive().get("isError")
            acknowledged = number + 1
            change(server, tool, acknowledged, acknowledged + 1)
            for _ in range(round_ * 12):  # a different moment each time, measured in reads of ours
                number_in(path.read_bytes())
        number = number_in(path.read_bytes())
        assert number in (acknowledged, acknowledged + 1), "an acknowledged change is lost"
    with peer("-m", "mcp_server_filesystem", str(root)) as server:
        server.call("write_file", path="b.txt", content="tidies up")
    assert names(root) == ["a.txt", "b.txt"]


def change(server: Peer, tool: str, old: int, new: int) -> None:
    if tool == "write_file":
        server.send("write_file", path="a.txt", content=numbered(new))
    else:
        server.send("edit_file", path="a.txt", edits=[{"oldText": numbered(old), "newText": numbered(new)}])


def test_on_a_full_disk_every_tool_leaves_what_was_there_and_nothing_else(root: Path) -> None:
    (root / "a.txt").write_text("small\n" * 1000)
    (root / "large.txt").write_text("large\n" * 50_000)
    (root / "d").mkdir()
    (root / "d" / "large.txt").write_text("large\n" * 50_000)
    os.link(root / "large.txt", root / "twin.txt")
    before = contents(root)
    long = "n" * 200_000
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("write_file", {"path": "a.txt", "content": long}),
        ("write_file", {"path": "new.txt", "content": long}),
        ("write_file", {"path": "a.txt", "content": long, "append": True}),
        ("write_file", {"path": "twin.txt", "content": long + long}),
        ("edit_file", {"path": "a.txt", "edits": [{"oldText": "small\n" * 1000, "newText": long}]}),
        ("copy_file", {"source": "large.txt", "destination": "copy.txt"}),
        ("copy_file", {"source": "d", "destination": "copy"}),
    ]
    with peer("-c", FULL, str(root)) as server:
        for tool, arguments in attempts:
            result = server.call(tool, **arguments)
            assert result.get("isError"), (tool, arguments.keys(), result)
            assert "was not written, because" in result["content"][0]["text"]
            assert contents(root) == before
        assert not server.call("write_file", path="a.txt", content="fits").get("isError")


def test_what_was_acknowledged_is_there_after_kill(root: Path) -> None:
    (root / "d").mkdir()
    (root / "d" / "f").write_text("f")
    with peer("-m", "mcp_server_filesystem", str(root)) as server:
        for tool, arguments in (
            ("write_file", {"path": "a", "content": "a"}),
            ("write_file", {"path": "a", "content": "b", "append": True}),
            ("copy_file", {"source": "d", "destination": "e"}),
            ("move_file", {"source": "d/f", "destination": "e/g"}),
            ("delete_file", {"path": "d"}),
            ("create_directory", {"path": "x/y"}),
        ):
            assert not server.call(tool, **arguments).get("isError")
        server.child.kill()
    found = {name: data for name, data in contents(root).items() if not name.startswith(".mcp-trash")}
    assert found == {"a": b"ab", "e": None, "e/f": b"f", "e/g": b"f", "x": None, "x/y": None}
