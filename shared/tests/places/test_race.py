"""A process exchanges directories, files and links while we work: nothing from outside is read, nothing written there."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import Places, create_exclusive, replace
from mcp_server_core.places.walk import Engine

from .conftest import SECRET, Open, Trees, names

SECONDS = 1.0  # for each engine

# Exchanges two names in one step of the kernel, as fast as it can, until its input is closed.
FLIPPER = """
import ctypes, os, select, sys
libc = ctypes.CDLL(None)
pairs = [(os.fsencode(a), os.fsencode(b)) for a, b in zip(sys.argv[1::2], sys.argv[2::2])]
print("flipping", flush=True)
while not select.select([0], [], [], 0)[0]:
    for _ in range(20):
        for one, other in pairs:
            assert libc.renameat2(-100, one, -100, other, 2) == 0
"""


@pytest.fixture
def stage(trees: Trees, tmp_path: Path) -> Iterator[Path]:
    """`inside` with a directory, a file and a link that turn into links to the outside and back."""
    backstage = tmp_path / "backstage"
    backstage.mkdir()
    inside, outside = trees
    (outside / "f").write_bytes(SECRET)
    (inside / "flip").mkdir()
    (inside / "flip" / "f").write_bytes(b"inside")
    (inside / "file").write_bytes(b"inside")
    (inside / "victim").write_bytes(b"inside")
    (inside / "link").symlink_to("sub")
    (inside / "sub" / "f").write_bytes(b"inside")
    (backstage / "flip").symlink_to(outside)
    (backstage / "file").symlink_to(outside / "f")
    (backstage / "victim").symlink_to(outside / "f")
    (backstage / "link").symlink_to("../outside")
    pairs = [str(top / name) for name in ("flip", "file", "victim", "link") for top in (inside, backstage)]
    flipper = subprocess.Popen(
        [sys.executable, "-c", FLIPPER, *pairs], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert flipper.stdin is not None
    assert flipper.stdout is not None
    with flipper.stdin, flipper.stdout:
        assert flipper.stdout.readline() == b"flipping\n"
        yield inside
        flipper.stdin.close()
        assert flipper.wait(10) == 0


def works(places: Places) -> dict[str, Callable[[int], object]]:
    """What a server does all day, at the names that are being exchanged."""

    def read(name: str) -> Callable[[int], object]:
        return lambda _: places.resolve(name).read_bytes(1000)

    def move(turn: int) -> None:
        places.resolve("a.txt").rename_to(places.resolve(f"flip/moved-{turn}"))
        places.resolve(f"flip/moved-{turn}").rename_to(places.resolve("a.txt"), overwrite=True)

    def create(turn: int) -> None:
        create_exclusive(places.resolve(f"link/new-{turn}"), b"new", durable=False)

    def append(_: int) -> None:
        fd = places.resolve("file").open(os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(fd, b"!")
        os.close(fd)

    return {
        "read in a directory": read("flip/f"),
        "read a file": read("file"),
        "read behind a link": read("link/f"),
        "list": lambda _: places.resolve("flip").listdir(),
        "stat": lambda _: places.resolve("flip/f").stat().st_size,
        "replace": lambda turn: replace(places.resolve("flip/f"), b"inside %d" % turn, durable=False),
        "replace a file": lambda _: replace(places.resolve("victim"), b"inside", durable=False),
        "append": append,
        "create": create,
        "make": lambda turn: places.resolve(f"flip/made-{turn}/deep").mkdir(),
        "move": move,
        "delete": lambda turn: places.resolve(f"link/new-{turn - 1}").unlink(),
    }


def test_nothing_leaks_and_nothing_outside_is_written_while_links_are_exchanged(
    stage: Path, trees: Trees, opened: Open, handle_engine: Engine
) -> None:
    places = opened(stage, engine=handle_engine)
    done: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    deadline = time.monotonic() + SECONDS
    turn = leaks = 0
    while time.monotonic() < deadline:
        turn += 1
        for name, work in works(places).items():
            try:
                seen = work(turn)
            except ToolError as error:
                leaks += str(trees.outside) in str(error)
                refused[name] += 1
                if name == "move" and not (stage / "a.txt").exists():
                    (stage / "a.txt").write_bytes(b"a")
            else:
                leaks += seen in (SECRET, len(SECRET)) or (isinstance(seen, list) and "secret.txt" in seen)
                done[name] += 1
    assert (leaks, names(trees.outside)) == (0, ["f", "secret.txt"])
    assert ((trees.outside / "f").read_bytes(), (trees.outside / "secret.txt").read_bytes()) == (
        SECRET,
        SECRET,
    )
    assert min(done["read in a directory"], refused["read in a directory"]) > 0, (done, refused)
    assert min(done["replace"], refused["replace"]) > 0, (done, refused)
