"""Full disks, killed processes, and a user with few rights: each in a process or file system of its own."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import Grant, Places, replace

from .conftest import Open, Trees, names

NOBODY = 65534
OLD, NEW = b"old" * 50_000, b"new!" * 60_000

KILLED = """
import sys
from mcp_server_core.places import Grant, Places, replace
spot = Places([Grant(sys.argv[1])]).resolve(sys.argv[2])
contents = [b"old" * 50_000, b"new!" * 60_000]
print("ready", flush=True)
while True:
    for content in contents:
        replace(spot, (content[i : i + 4096] for i in range(0, len(content), 4096)))
"""


def test_a_process_killed_at_any_moment_leaves_the_old_file_or_the_new_one(trees: Trees) -> None:
    path = trees.inside / "a.txt"
    path.write_bytes(OLD)
    for round_ in range(30):
        child = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(trees.inside), "a.txt"], stdout=subprocess.PIPE
        )
        assert child.stdout is not None
        child.stdout.readline()
        with child.stdout:
            for _ in range(round_ * 15):  # a different moment each time, measured in reads of ours
                assert path.read_bytes() in (OLD, NEW)
            child.send_signal(signal.SIGKILL)
            child.wait()
        assert path.read_bytes() in (OLD, NEW)
    with Places([Grant(str(trees.inside))]) as places:
        replace(places.resolve("a.txt"), NEW)
    assert names(trees.inside) == ["a.txt", "sub"]


@pytest.fixture
def small_files() -> Iterator[None]:
    """As on a full disk: a file of ours may grow to 100,000 bytes, then the write fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("twin", [False, True])
def test_a_write_that_does_not_fit_leaves_the_old_file_and_nothing_else(
    trees: Trees, opened: Open, twin: bool
) -> None:
    (trees.inside / "a.txt").write_bytes(b"old" * 1000)
    if twin:
        os.link(trees.inside / "a.txt", trees.inside / "sub" / "twin")
    before = names(trees.inside)
    with pytest.raises(ToolError, match="larger than the system allows"):
        replace(opened(trees.inside).resolve("a.txt"), b"n" * 200_000)
    assert (names(trees.inside), (trees.inside / "a.txt").read_bytes()) == (
        before,
        b"old" * 1000,
    )


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(disk)], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


@pytest.mark.parametrize("twin", [False, True])
@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_a_full_disk_leaves_the_old_file_and_nothing_else(
    tiny_disk: Path, opened: Open, name: str, twin: bool
) -> None:
    (tiny_disk / "a.txt").write_bytes(b"old" * 1000)
    if twin:
        os.link(tiny_disk / "a.txt", tiny_disk / "twin")
    before = names(tiny_disk)
    with pytest.raises(ToolError, match="the disk is full"):
        replace(opened(tiny_disk).resolve(name), b"n" * 500_000)
    assert (names(tiny_disk), (tiny_disk / "a.txt").read_bytes()) == (before, b"old" * 1000)


def test_a_mounted_file_is_written_in_place(trees: Trees, opened: Open) -> None:
    source = trees.outside / "mounted"
    source.write_bytes(b"old")
    target = trees.inside / "a.txt"
    if subprocess.run(["mount", "--bind", source, target], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        written = replace(opened(trees.inside).resolve("a.txt"), b"new")
    finally:
        subprocess.run(["umount", target], check=True)
    assert (written.strategy, source.read_bytes(), names(trees.inside)) == (
        "in place",
        b"new",
        ["a.txt", "sub"],
    )


# --- as a user with few rights --------------------------------------------------------------------------------------


def as_nobody(work: Callable[[], object]) -> str:
    """What the work returns, or the sentence it fails with, in a child that has given its rights up."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            os.write(writing, str(work()).encode())
        except Exception as error:  # noqa: BLE001 - the parent asserts on what it was
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answers:
        told = answers.read()
    os.waitpid(child, 0)
    return told


@pytest.fixture
def shared(trees: Trees) -> Trees:
    """Trees that everybody can get to."""
    if os.geteuid() != 0:
        pytest.skip("only root becomes somebody else")
    for parent in trees.inside.parents[:3]:
        parent.chmod(0o755)
    trees.inside.chmod(0o777)
    return trees


@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # of fork beside threads, in newer Pythons
def test_a_file_of_a_foreign_owner_is_written_in_place(shared: Trees, opened: Open) -> None:
    (shared.inside / "a.txt").chmod(0o666)
    places = opened(shared.inside)
    assert as_nobody(lambda: replace(places.resolve("a.txt"), b"new").strategy) == "in place"
    found = (shared.inside / "a.txt").stat()
    assert (found.st_uid, (shared.inside / "a.txt").read_bytes()) == (0, b"new")


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_file_in_an_unwritable_directory_is_written_in_place(shared: Trees, opened: Open) -> None:
    os.chown(shared.inside / "a.txt", NOBODY, NOBODY)
    shared.inside.chmod(0o755)
    places = opened(shared.inside)
    assert as_nobody(lambda: replace(places.resolve("a.txt"), b"new").strategy) == "in place"
    assert (shared.inside / "a.txt").read_bytes() == b"new"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_write_protected_file_is_not_replaced_behind_its_back(shared: Trees, opened: Open) -> None:
    os.chown(shared.inside / "a.txt", NOBODY, NOBODY)
    (shared.inside / "a.txt").chmod(0o444)
    places = opened(shared.inside)
    assert as_nobody(lambda: replace(places.resolve("a.txt"), b"new")) == (
        "ToolError: 'a.txt' may not be accessed: the operating system denies permission."
    )


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_new_file_in_an_unwritable_directory_is_refused(shared: Trees, opened: Open) -> None:
    shared.inside.chmod(0o755)
    places = opened(shared.inside)
    assert as_nobody(lambda: replace(places.resolve("new.txt"), b"new")) == (
        "ToolError: 'new.txt' may not be accessed: the operating system denies permission."
    )


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_directory_that_cannot_be_opened_is_listed_with_the_reason(shared: Trees) -> None:
    (shared.inside / "locked" / "in").mkdir(parents=True)
    (shared.inside / "locked").chmod(0o700)
    grants = [Grant(f"{shared.inside}/locked/in")]
    assert as_nobody(lambda: Places(grants).listing()[0].problem) == "cannot be opened"


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_directory_that_may_be_entered_but_not_read_can_be_written(shared: Trees, opened: Open) -> None:
    shared.inside.chmod(0o733)
    places = opened(shared.inside)
    assert (
        as_nobody(lambda: replace(places.resolve("new.txt"), b"new")) == "Written(strategy='created', size=3)"
    )
