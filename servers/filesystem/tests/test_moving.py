"""Copying, moving, deleting and bringing back, as a client sees it."""

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_server_core import ToolError
from mcp_server_core.places import Changed, Grant, OtherDisk, Places, Spot
from mcp_server_filesystem import moving
from mcp_server_filesystem.entries import HIDDEN

from .conftest import contents, desk_at, names

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=["another disk", "as if on another disk"])
def disk(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory that no rename reaches: a real one where mounting is allowed, and one where the rename says so."""
    made = tmp_path / "disk"
    made.mkdir()
    if request.param == "another disk":
        mounting = ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(made)]
        if subprocess.run(mounting, check=False, capture_output=True).returncode:
            pytest.skip("mounting is not allowed here")
        yield made
        subprocess.run(["umount", "-l", str(made)], check=True)
        return
    rename = Spot.rename_to

    def refuse(self: Spot, other: Spot, *, overwrite: bool = False) -> None:
        if self.place.path != other.place.path:
            raise OtherDisk("another disk")
        rename(self, other, overwrite=overwrite)

    monkeypatch.setattr(Spot, "rename_to", refuse)
    yield made


async def test_a_file_and_a_directory_are_renamed(root: Path) -> None:
    (root / "a.txt").write_text("a")
    (root / "d").mkdir()
    async with desk_at(root) as desk:
        assert (
            await desk.text("move_file", source="a.txt", destination="d/b.txt")
            == "Moved 'a.txt' to 'd/b.txt'."
        )
        await desk.text("move_file", source="d", destination="e")
    assert contents(root) == {"e": None, "e/b.txt": b"a"}


@pytest.mark.parametrize("tool", ["move_file", "copy_file"])
@pytest.mark.parametrize("taken", ["file", "directory", "link", "dangling"])
async def test_nothing_is_ever_overwritten(root: Path, tool: str, taken: str) -> None:
    (root / "a.txt").write_text("a")
    (root / "file").write_text("precious")
    (root / "directory").mkdir()
    (root / "link").symlink_to("file")
    (root / "dangling").symlink_to("nowhere")
    before = contents(root)
    async with desk_at(root) as desk:
        assert f"'{taken}' exists already" in await desk.refusal(tool, source="a.txt", destination=taken)
    assert contents(root) == before


async def test_what_is_missing_is_named(root: Path) -> None:
    (root / "a.txt").write_text("a")
    async with desk_at(root) as desk:
        for tool in ("move_file", "copy_file"):
            assert "'gone' does not exist" in await desk.refusal(tool, source="gone", destination="b")
            assert "its directory does not exist" in await desk.refusal(
                tool, source="a.txt", destination="no/b"
            )
        assert "itself an allowed directory" in await desk.refusal("move_file", source=".", destination="x")


async def test_a_directory_is_neither_moved_nor_copied_into_itself(root: Path) -> None:
    (root / "d" / "e").mkdir(parents=True)
    async with desk_at(root) as desk:
        assert "is inside the directory" in await desk.refusal("copy_file", source="d", destination="d/e/f")
        assert "is inside the directory" in await desk.refusal("move_file", source="d", destination="d/e/f")
    assert contents(root) == {"d": None, "d/e": None}


@pytest.mark.parametrize("tool", ["move_file", "delete_file"])
async def test_a_read_only_directory_cannot_be_carried_away_with_its_parent(root: Path, tool: str) -> None:
    locked = root / "parent" / "locked"
    locked.mkdir(parents=True)
    (locked / "a.txt").write_text("a")
    arguments = {"path": str(root / "parent")}
    if tool == "move_file":
        arguments = {"source": str(root / "parent"), "destination": str(root / "elsewhere")}
    async with desk_at(root, f"{locked}:ro") as desk:
        assert "holds an allowed directory" in await desk.refusal(tool, **arguments)
    assert (locked / "a.txt").read_text() == "a"


async def test_what_is_nested_very_deep_is_deleted_for_good_and_not_copied(root: Path) -> None:
    inner = root / "deep"
    for _ in range(1200):
        inner.mkdir()
        inner /= "d"
    async with desk_at(root) as desk:
        refusal = await desk.refusal("copy_file", source="deep", destination="copy")
        assert refusal == "'deep' goes more than 300 directories deep: copy parts of it."
        await desk.text("delete_file", path="deep")
        (moment,) = (name for name in names(root / ".mcp-trash") if name != ".gitignore")
        await desk.text("delete_file", path=f".mcp-trash/{moment}")
    assert names(root) == [".mcp-trash"]
    assert names(root / ".mcp-trash") == [".gitignore"]


async def test_a_refusal_to_move_names_what_the_caller_named(root: Path) -> None:
    (root / "a").write_text("a")
    (root / "out").symlink_to(root.parent)
    async with desk_at(root) as desk:
        refusal = await desk.refusal("move_file", source="a", destination="out/b")
    assert refusal.startswith("'out/b' is outside the allowed directories")


async def test_a_copy_has_the_content_and_no_more_rights(root: Path) -> None:
    (root / "secret").write_text("s")
    (root / "secret").chmod(0o600)
    (root / "run").write_text("r")
    (root / "run").chmod(0o755)
    async with desk_at(root) as desk:
        assert (
            await desk.text("copy_file", source="secret", destination="b")
            == "Copied 'secret' to 'b': 1 file."
        )
        await desk.text("copy_file", source="run", destination="c")
    assert [(root / name).read_text() for name in "bc"] == ["s", "r"]
    assert [stat.S_IMODE((root / name).stat().st_mode) for name in "bc"] == [0o600, 0o755]


def make_tree(top: Path) -> None:
    (top / "sub" / "deep").mkdir(parents=True)
    (top / "a.txt").write_text("a")
    (top / "sub" / "b.bin").write_bytes(bytes(range(256)) * 9000)
    (top / "sub" / "deep" / "run").write_text("r")
    (top / "sub" / "deep" / "run").chmod(0o711)
    (top / "link").symlink_to("sub/b.bin")
    (top / "sub").chmod(0o700)


async def test_a_directory_is_copied_with_all_that_is_in_it(root: Path) -> None:
    make_tree(root / "tree")
    async with desk_at(root) as desk:
        assert (
            await desk.text("copy_file", source="tree", destination="copy")
            == "Copied 'tree' to 'copy': 4 files."
        )
    assert contents(root / "copy") == contents(root / "tree")
    assert stat.S_IMODE((root / "copy" / "sub").stat().st_mode) == 0o700
    assert names(root) == ["copy", "tree"]


async def test_a_copy_that_fails_half_way_leaves_nothing_behind(root: Path) -> None:
    make_tree(root / "tree")
    os.mkfifo(root / "tree" / "sub" / "fifo")
    async with desk_at(root) as desk:
        assert "not a regular file" in await desk.refusal("copy_file", source="tree", destination="copy")
    assert names(root) == ["tree"]


async def test_a_file_moves_to_another_disk_with_all_it_has(root: Path, disk: Path) -> None:
    (root / "a.txt").write_text("a")
    (root / "a.txt").chmod(0o640)
    os.utime(root / "a.txt", (1_000_000_000, 1_100_000_000))
    (root / "link").symlink_to("a.txt")
    (disk / "taken").write_text("t")
    async with desk_at(root, disk) as desk:
        assert "exists already" in await desk.refusal(
            "move_file", source=str(root / "a.txt"), destination=str(disk / "taken")
        )
        await desk.text("move_file", source=str(root / "link"), destination=str(disk / "link"))
        await desk.text("move_file", source=str(root / "a.txt"), destination=str(disk / "b.txt"))
    found = (disk / "b.txt").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_mtime) == (0o640, 1_100_000_000)
    assert contents(disk) == {"b.txt": b"a", "link": "a.txt", "taken": b"t"}
    assert contents(root) == {}


async def test_a_directory_moves_to_another_disk_and_back(root: Path, disk: Path) -> None:
    make_tree(root / "tree")
    before = contents(root / "tree")
    async with desk_at(root, disk) as desk:
        await desk.text("move_file", source=str(root / "tree"), destination=str(disk / "moved"))
        assert (names(root), names(disk), contents(disk / "moved")) == ([], ["moved"], before)
        assert stat.S_IMODE((disk / "moved" / "sub" / "deep" / "run").stat().st_mode) == 0o711
        await desk.text("move_file", source=str(disk / "moved"), destination=str(root / "back"))
    assert (names(disk), contents(root / "back")) == ([], before)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    made = tmp_path / "small"
    made.mkdir()
    mounting = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(made)]
    if subprocess.run(mounting, check=False, capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    yield made
    subprocess.run(["umount", "-l", str(made)], check=True)


async def test_a_directory_too_large_for_the_other_disk_stays_where_it_is(
    root: Path, small_disk: Path
) -> None:
    make_tree(root / "tree")
    before = contents(root)
    async with desk_at(root, small_disk) as desk:
        for tool in ("move_file", "copy_file"):
            said = await desk.refusal(tool, source=str(root / "tree"), destination=str(small_disk / "tree"))
            assert "the disk is full" in said
    assert (contents(root), names(small_disk)) == (before, [])


KILLED = """
import os, sys
from mcp_server_core.places import Grant, Places
from mcp_server_filesystem import moving
from mcp_server_filesystem.entries import HIDDEN
places = Places([Grant(sys.argv[1])])
copied = 0
def step():
    global copied
    copied += 1
    if copied == 3:
        os.kill(os.getpid(), 9)
moving.copy(places.resolve("tree"), places.resolve("copy"), step)
"""


def test_what_a_killed_copy_left_is_removed_by_the_next_one(root: Path) -> None:
    make_tree(root / "tree")
    done = subprocess.run([sys.executable, "-c", KILLED, str(root)], check=False)
    assert done.returncode == -9
    (left,) = [name for name in names(root) if name != "tree"]
    assert left.startswith(HIDDEN)
    with Places([Grant(str(root))]) as places:
        moving.copy(places.resolve("tree"), places.resolve("copy"), lambda: None)
    assert names(root) == ["copy", "tree"]


def test_a_copy_that_is_still_running_is_left_alone(root: Path) -> None:
    make_tree(root / "tree")
    with Places([Grant(str(root))]) as places:
        nested: list[int] = []

        def step() -> None:
            if not nested:
                nested.append(moving.copy(places.resolve("tree"), places.resolve("second"), lambda: None))

        moving.copy(places.resolve("tree"), places.resolve("first"), step)
    assert contents(root / "first") == contents(root / "second") == contents(root / "tree")


@pytest.mark.parametrize("steps", [1, 2, 4])
def test_a_copy_that_nobody_waits_for_stops_and_leaves_nothing(root: Path, steps: int) -> None:
    make_tree(root / "tree")
    left = steps

    def step() -> None:
        nonlocal left
        left -= 1
        if not left:
            raise InterruptedError

    with Places([Grant(str(root))]) as places, pytest.raises((InterruptedError, ToolError)):
        moving.copy(places.resolve("tree"), places.resolve("copy"), step)
    assert names(root) == ["tree"]


def test_a_file_that_changes_while_it_is_copied_is_not_half_copied(root: Path) -> None:
    (root / "a.txt").write_bytes(b"a" * 3_000_000)

    def step() -> None:
        with (root / "a.txt").open("ab") as file:
            file.write(b"more")

    with Places([Grant(str(root))]) as places, pytest.raises(Changed, match="changed while it was copied"):
        moving.copy(places.resolve("a.txt"), places.resolve("b.txt"), step)
    assert names(root) == ["a.txt"]


# --- the trash ----------------------------------------------------------------------------------------------------


async def test_what_is_deleted_lies_in_the_trash_and_comes_back(root: Path) -> None:
    make_tree(root / "tree")
    (root / "tree" / "link").unlink()
    before = contents(root)
    async with desk_at(root) as desk:
        said = await desk.text("delete_file", path="tree/sub/b.bin")
        kept = Path(said.partition("It lies at '")[2].partition("'")[0])
        assert kept.parts[-3:] == ("tree", "sub", "b.bin")
        assert str(kept.relative_to(root)) in contents(root)
        await desk.text("delete_file", path="tree")
        assert [name for name in contents(root) if not name.startswith(".mcp-trash")] == []
        assert await desk.text("delete_file", path="tree", restore=True) == "Restored 'tree' from the trash."
        await desk.text("delete_file", path="tree/sub/b.bin", restore=True)
    assert contents(root) == {".mcp-trash": None, ".mcp-trash/.gitignore": b"*\n", **before}


async def test_the_last_of_several_deleted_at_a_path_comes_back(root: Path) -> None:
    async with desk_at(root) as desk:
        for content in ("first", "second"):
            (root / "a.txt").write_text(content)
            await desk.text("delete_file", path="a.txt")
        await desk.text("delete_file", path="a.txt", restore=True)
        assert (root / "a.txt").read_text() == "second"
        assert "exists already" in await desk.refusal("delete_file", path="a.txt", restore=True)
        (root / "a.txt").unlink()
        await desk.text("delete_file", path="a.txt", restore=True)
        assert (root / "a.txt").read_text() == "first"
        (root / "a.txt").unlink()
        assert "Nothing that was at 'a.txt' is in the trash" in await desk.refusal(
            "delete_file", path="a.txt", restore=True
        )


async def test_only_its_owner_sees_into_the_trash(root: Path) -> None:
    (root / "a.txt").write_text("a")
    async with desk_at(root) as desk:
        await desk.text("delete_file", path="a.txt")
    assert stat.S_IMODE((root / ".mcp-trash").stat().st_mode) == 0o700


async def test_inside_the_trash_deleting_is_for_good(root: Path) -> None:
    make_tree(root / "tree")
    async with desk_at(root) as desk:
        await desk.text("delete_file", path="tree")
        assert await desk.text("delete_file", path=".mcp-trash") == "Deleted '.mcp-trash' for good."
    assert contents(root) == {}


async def test_links_and_directories_that_cannot_be_deleted(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("o")
    (root / "out").symlink_to(tmp_path / "outside")
    async with desk_at(root) as desk:
        await desk.text("delete_file", path="out")  # the link, which is ours
        assert "itself an allowed directory" in await desk.refusal("delete_file", path=str(root))
        assert "does not exist" in await desk.refusal("delete_file", path="gone")
        assert "outside the allowed" in await desk.refusal("delete_file", path=str(tmp_path / "outside"))
    assert (tmp_path / "outside").read_text() == "o"
