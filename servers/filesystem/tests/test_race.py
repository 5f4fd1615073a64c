"""A process exchanges directories, files and links while every tool works there: nothing gets in, nothing gets out.

`RACE_SECONDS` says how long; the default is short, and enough for thousands of exchanges.
"""

import json
import os
import subprocess
import sys
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import pytest
from mcp_server_core import McpError

from .conftest import Desk, contents, desk_at

pytestmark = pytest.mark.anyio

SECONDS = float(os.environ.get("RACE_SECONDS", "3"))
WORKERS = 4
SECRET = "what lies outside is nobody's business\n"

# Exchanges two names in one step of the kernel, as fast as it can, until its input is closed.
FLIPPER = """
import ctypes, os, select, sys
libc = ctypes.CDLL(None)
pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
flips = 0
print("flipping", flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(20):
        for one, other in pairs:
            flips += libc.renameat2(-100, one, -100, other, 2) == 0
print(flips, flush=True)
"""

Arguments = dict[str, Any]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Stage(NamedTuple):
    inside: Path
    outside: Path
    flips: Callable[[], int]


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """`inside` with names that turn into links to the outside and back."""
    inside, outside, backstage = (tmp_path / name for name in ("inside", "outside", "backstage"))
    for folder in (inside / "flip" / "deep", inside / "sub", outside / "deep", backstage):
        folder.mkdir(parents=True)
    for folder in (outside, outside / "deep"):
        (folder / "f").write_text(SECRET)
        (folder / "secret.txt").write_text(SECRET)
    for file in ("flip/f", "flip/deep/f", "sub/f", "file", "victim", "doomed", "stays"):
        (inside / file).write_text("inside\n")
    (inside / "link").symlink_to("sub")
    (backstage / "flip").symlink_to(outside)
    (backstage / "link").symlink_to("../outside")
    for name in ("file", "victim", "doomed"):
        (backstage / name).symlink_to(outside / "f")
    pairs = [
        str(top / name)
        for name in ("flip", "link", "file", "victim", "doomed")
        for top in (inside, backstage)
    ]
    flipper = subprocess.Popen(
        [sys.executable, "-c", FLIPPER, *pairs], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert flipper.stdin is not None
    assert flipper.stdout is not None
    standard_in, standard_out = flipper.stdin, flipper.stdout

    def stop() -> int:
        standard_in.close()
        return int(standard_out.readline())

    with standard_out:
        assert standard_out.readline() == b"flipping\n"
        yield Stage(inside, outside, stop)
        standard_in.close()
        assert flipper.wait(10) == 0


def attempts(turn: str) -> dict[str, list[Arguments]]:
    """What each tool does at the names that are being exchanged."""
    flipped = ("flip/f", "flip/deep/f", "file", "link/f")
    directories = ("flip", "link", "flip/deep", ".")
    edit = [{"oldText": "inside", "newText": "inside"}, {"oldText": "\n", "newText": " \n"}]
    return {
        "read_text_file": [
            *({"path": path} for path in flipped),
            {"path": "flip/f", "tail": 3},
            {"path": "file", "offset": 1, "limit": 1},
        ],
        "read_media_file": [{"path": path} for path in flipped],
        "read_multiple_files": [{"paths": [*flipped]}],
        "get_file_info": [{"path": "flip/f", "content": True}, {"path": "link", "content": True}],
        "write_file": [
            {"path": "flip/f", "content": "inside\n"},
            {"path": "victim", "content": "inside\n"},
            {"path": "file", "content": "inside\n", "append": True},
            {"path": f"link/new-{turn}", "content": "inside\n"},
        ],
        "edit_file": [{"path": path, "edits": edit} for path in ("flip/f", "victim", "link/f")],
        "create_directory": [{"path": f"flip/made-{turn}/deep"}, {"path": f"link/made-{turn}"}],
        "move_file": [
            {"source": f"link/new-{turn}", "destination": f"flip/moved-{turn}"},
            {"source": f"flip/moved-{turn}", "destination": f"moved-{turn}"},
        ],
        "copy_file": [
            {"source": "flip/f", "destination": f"copy-{turn}"},
            {"source": "stays", "destination": f"flip/copy-{turn}"},
            {"source": "flip", "destination": f"tree-{turn}"},
        ],
        "delete_file": [
            {"path": f"flip/copy-{turn}"},
            {"path": f"tree-{turn}"},
            {"path": "doomed"},
            {"path": "doomed", "restore": True},
            {"path": f"flip/copy-{turn}", "restore": True},
        ],
        "list_directory": [{"path": path} for path in directories],
        "list_directory_with_sizes": [{"path": path} for path in directories],
        "directory_tree": [{"path": path} for path in directories],
        "search_files": [{"path": path, "pattern": "**/secret*"} for path in directories],
        "search_text": [{"path": path, "pattern": "nobody's business"} for path in directories],
        "list_allowed_directories": [{}],
    }


class Tally:
    """What came of the attempts."""

    def __init__(self, stage: Stage) -> None:
        encoded = b64encode(SECRET.encode()).decode()
        self._marks = [SECRET.strip(), "secret.txt", str(stage.outside), encoded]
        self.done: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.leaks: list[str] = []

    def note(self, what: str, arguments: Arguments, result: dict[str, Any]) -> None:
        (self.refused if result.get("isError") else self.done)[what] += 1
        said = json.dumps(result.get("content"), ensure_ascii=False)
        structured = result.get("structuredContent")
        if what == "get_file_info" and structured and structured["size"] == len(SECRET):
            self.leaks.append(f"{what} {arguments}: the size of a file outside")
        said += json.dumps(structured, ensure_ascii=False)
        # A search repeats its pattern when it finds nothing.
        said = said.replace("**/secret*", "")
        self.leaks += [f"{what} {arguments}: {said[:300]}" for mark in self._marks if mark in said]


async def work(desk: Desk, tally: Tally, name: str, tools: list[str], inside: Path) -> None:
    turn = 0
    while True:
        turn += 1
        for tool, rows in attempts(f"{name}{turn}").items():
            for arguments in rows if tool in tools else ():
                tally.note(tool, arguments, await desk.result(tool, **arguments))
        for path in ("flip/f", "file", "flip"):
            try:
                read = await desk.client.read_resource((inside / path).as_uri())
                tally.note("a resource", {"path": path}, {"content": read})
            except McpError as error:
                tally.note("a resource", {"path": path}, {"content": str(error), "isError": True})


async def test_nothing_leaks_and_nothing_outside_is_written_while_links_are_exchanged(stage: Stage) -> None:
    before, tally = contents(stage.outside), Tally(stage)
    async with desk_at(stage.inside) as desk:
        tools = [tool["name"] for tool in await desk.client.list_tools()]
        assert set(tools) == attempts("").keys(), "a tool that is not in the race"
        with anyio.move_on_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                for number in range(WORKERS):
                    tasks.start_soon(work, desk, tally, f"{'abcd'[number]}-", tools, stage.inside)
    flips = stage.flips()
    assert tally.leaks == []
    assert contents(stage.outside) == before
    assert flips > 1000
    for tool in ("read_text_file", "read_media_file", "write_file", "edit_file", "copy_file", "a resource"):
        assert min(tally.done[tool], tally.refused[tool]) > 0, (tool, tally.done, tally.refused)
