"""Large files cost little memory: measured as the resident size of a real process, at its highest."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .test_crash import Peer, peer

MIB = 1024
GIB = 1 << 30


def highest(server: Peer) -> int:
    """The most memory the process ever had, in KiB."""
    status = Path(f"/proc/{server.child.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1])


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A text of 1 GiB: real lines at both ends, and between them one hole that the disk does not store."""
    root = tmp_path_factory.mktemp("large")
    with (root / "large.log").open("wb") as file:
        for number in range(40_000):
            file.write(b"%09d some line of a log file\n" % number)
        file.seek(GIB - 4_000_000)
        file.write(b"\n")
        for number in range(50_000, 100_000):
            file.write(b"%09d some line of a log file\n" % number)
    yield root
    (root / "large.log").unlink()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(
    ("arguments", "first"),
    [
        ({"head": 100}, "000000000"),
        ({"tail": 100}, "000099900"),
        ({"offset": 30_000, "limit": 100}, "000029999"),
        ({"offset": 40_002, "limit": 100}, "000050000"),
        ({}, "000000000"),
    ],
)
def test_a_hundred_lines_of_a_gigabyte_cost_less_than_40_mib(
    large: Path, arguments: dict[str, Any], first: str
) -> None:
    (large / "small.txt").write_text("x\n")
    with peer("-m", "mcp_server_filesystem", str(large)) as server:
        server.call("read_text_file", path="small.txt")
        before = highest(server)
        result = server.call("read_text_file", path="large.log", **arguments)
        more = highest(server) - before
    assert result["content"][0]["text"].startswith(first)
    assert more < 40 * MIB, f"{more} KiB more"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_one_line_of_a_gigabyte_costs_little_too(large: Path) -> None:
    with peer("-m", "mcp_server_filesystem", str(large)) as server:
        server.call("read_text_file", path="large.log", head=1)
        before = highest(server)
        result = server.call("read_text_file", path="large.log", offset=40_001, column=900_000_000)
        more = highest(server) - before
    assert "continue with offset=40001, column=900099" in result["content"][1]["text"]
    assert more < 40 * MIB, f"{more} KiB more"
