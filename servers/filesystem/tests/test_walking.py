"""The walker: it sees everything that is inside, and nothing else."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_server_core import ToolError
from mcp_server_core.places import Grant, Places
from mcp_server_filesystem.jobs import Job, Stopped
from mcp_server_filesystem.search import Wanted, search
from mcp_server_filesystem.trails import HELD, HandleTrail, SpotTrail
from mcp_server_filesystem.walking import Skipping, Walker, open_walker


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def places(root: Path) -> Iterator[Places]:
    with Places([Grant(str(root))]) as places:
        yield places


@pytest.fixture(params=["handles", "spots"])
def walker(request: pytest.FixtureRequest, root: Path, places: Places) -> Iterator[Walker]:
    """A walker of each kind: the second is for systems without directory handles, and works here too."""
    top = places.resolve(str(root))
    trail = (
        SpotTrail(top) if request.param == "spots" else HandleTrail(top.open(os.O_RDONLY | os.O_DIRECTORY))
    )
    yield Walker(trail, Job(), Skipping())
    trail.close()


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("")


def names(walker: Walker, since: tuple[str, ...] = ()) -> list[str]:
    return [visit.prefix + entry.name for visit in walker.depth_first(since) for entry in visit.others]


def test_every_file_is_seen_once_in_order(root: Path, walker: Walker) -> None:
    make(root, "b", "a/z", "a/b/c", "a-/x", "c/d")
    assert names(walker) == ["b", "a/z", "a/b/c", "a-/x", "c/d"]


def test_a_walk_goes_on_where_another_stopped(root: Path, walker: Walker) -> None:
    make(root, "b", "a/z", "a/b/c", "a/c/d", "c/d")
    assert names(walker, ("a", "b")) == ["a/b/c", "a/c/d", "c/d"]
    assert names(walker, ("a", "bb")) == ["a/c/d", "c/d"]


def test_links_are_seen_and_not_followed(root: Path, walker: Walker) -> None:
    outside = root.parent / "outside"
    make(outside, "secret", "deep/secret")
    make(root, "inner/x")
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "in").symlink_to("inner")
    assert names(walker) == ["in", "loop", "out", "inner/x"]


def test_a_directory_that_became_a_link_is_not_entered(root: Path, walker: Walker) -> None:
    outside = root.parent / "outside"
    make(outside, "secret")
    make(root, "a/x", "b/y")
    walk = walker.depth_first()
    assert next(walk).directories == ["a", "b"]
    (root / "b").rename(root / "c")
    (root / "b").symlink_to(outside)
    assert [visit.parts for visit in walk] == [("a",)]
    with pytest.raises(OSError):
        walker.trail.open(("b",), "secret")


def test_a_very_deep_tree_takes_few_descriptors(root: Path, places: Places) -> None:
    depth = HELD * 3
    here = os.open(root, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d", dir_fd=here)
        inner = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    for name in ("one", "two"):
        os.close(os.open(name, os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.mkdir(f"{name}-inner", dir_fd=here)
    os.close(here)
    before = descriptors()
    most, found = 0, list[str]()
    with open_walker(places.resolve(str(root)), Job()) as walker:
        for visit in walker.depth_first():
            most = max(most, descriptors())
            found += [entry.name for entry in visit.others]
    assert found == ["one", "two"]
    assert most - before <= HELD + 3
    assert descriptors() == before


def test_a_directory_that_may_not_be_read_is_counted_and_passed_over(root: Path, walker: Walker) -> None:
    if os.geteuid() == 0:
        pytest.skip("everything may be read by root")
    make(root, "a/x", "b/y")
    (root / "a").chmod(0)
    try:
        assert names(walker) == ["b/y"]
        assert walker.unreadable == 1
    finally:
        (root / "a").chmod(0o700)


def test_ignore_files_count_at_every_level_and_above_the_start(root: Path, places: Places) -> None:
    make(root, "a.log", "sub/a.log", "sub/keep.log", "sub/x/only", "sub/x/y/only", "sub/build/o")
    (root / ".gitignore").write_text("*.log\n/sub/x/only\nbuild/\n")
    (root / "sub" / ".gitignore").write_text("!keep.log\n")
    with open_walker(places.resolve("sub"), Job()) as walker:
        assert names(walker) == [".gitignore", "keep.log", "x/y/only"]
        assert walker.ignored == 3
    with open_walker(places.resolve("sub"), Job(), Skipping(ignoring=False)) as walker:
        assert len(names(walker)) == 6


def test_the_trash_is_no_part_of_the_tree(root: Path, walker: Walker) -> None:
    make(root, ".mcp-trash/x/deleted", "kept")
    assert names(walker) == ["kept"]


def test_odd_things_are_seen_and_harm_nothing(root: Path, walker: Walker) -> None:
    os.mkfifo(root / "fifo")
    make(root, "new\nline", "\N{SNOWMAN}", "a\\b")
    (root / os.fsdecode(b"\xff\xfe")).write_text("")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        assert len(names(walker)) == 6


def test_a_job_that_nobody_wants_stops_at_the_next_directory(root: Path, places: Places) -> None:
    make(root, "a/x", "b/y")
    job = Job()
    with open_walker(places.resolve(str(root)), job) as walker:
        walk = walker.depth_first()
        next(walk)
        job.stopped = True
        with pytest.raises(Stopped):
            next(walk)


def test_a_file_is_no_start_for_a_walk(root: Path, places: Places) -> None:
    make(root, "file")
    with pytest.raises(ToolError, match="not a directory"):
        search(places.resolve("file"), Wanted("**"), Job(), budget=1000)
