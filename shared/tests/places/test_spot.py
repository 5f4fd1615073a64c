"""What can be done at a spot, and what cannot."""

import errno
import os
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import (
    Grant,
    Missing,
    OtherDisk,
    Places,
    Refused,
    Taken,
    create_exclusive,
    replace,
)
from mcp_server_core.places.handles import Handle
from mcp_server_core.places.landing import HandleLanding, rename_in_steps
from mcp_server_core.places.walk import Engine

from .conftest import Open, Trees, names


@pytest.fixture
def places(trees: Trees, opened: Open, engine: Engine) -> Places:
    return opened(trees.inside, engine=engine)


# --- looking --------------------------------------------------------------------------------------------------------


def test_stat_follows_a_link_and_lstat_does_not(places: Places, trees: Trees) -> None:
    (trees.inside / "link").symlink_to("a.txt")
    spot = places.resolve("link")
    assert (stat.S_ISREG(spot.stat().st_mode), stat.S_ISLNK(spot.lstat().st_mode)) == (True, True)


def test_a_link_that_leaves_can_be_described_but_not_looked_through(places: Places, trees: Trees) -> None:
    (trees.inside / "out").symlink_to(trees.outside / "secret.txt")
    spot = places.resolve("out")
    assert stat.S_ISLNK(spot.lstat().st_mode)
    with pytest.raises(Refused):
        spot.stat()


def test_a_directory_lists_its_names(places: Places) -> None:
    assert sorted(places.resolve(".").listdir()) == ["a.txt", "sub"]


def test_entries_are_described_through_the_handle(places: Places) -> None:
    with places.resolve("sub").scandir() as entries:
        found = {
            entry.name: entry.stat(follow_symlinks=False).st_size for entry in entries if entry.is_file()
        }
    assert found == {"b.txt": 1}


def test_a_file_cannot_be_listed(places: Places) -> None:
    with pytest.raises(ToolError, match="is not a directory"):
        places.resolve("a.txt").listdir()


def test_a_missing_file_is_missing(places: Places) -> None:
    spot = places.resolve("gone.txt")
    assert spot.exists() is False
    with pytest.raises(Missing, match=r"'gone.txt' does not exist"):
        spot.open()


def test_a_child_is_one_name_further_down(places: Places) -> None:
    assert places.resolve("sub").child("b.txt").read_bytes(10) == b"b"


def test_another_spot_of_the_same_place_is_found_by_names(places: Places) -> None:
    spot = places.resolve("sub/b.txt")
    assert spot.at("a.txt").read_bytes(10) == b"a"
    assert spot.at().listdir() == places.resolve(".").listdir()
    with pytest.raises(ToolError, match="is not the name of a file"):
        spot.at("sub", "..")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\0b"])
def test_a_child_is_one_name_and_nothing_else(places: Places, name: str) -> None:
    with pytest.raises(ToolError, match="is not the name of a file"):
        places.resolve("sub").child(name)


def test_the_parent_of_a_spot_is_a_handle_and_a_name(
    trees: Trees, opened: Open, handle_engine: Engine
) -> None:
    fd, name = opened(trees.inside, engine=handle_engine).resolve("sub/b.txt").open_parent()
    try:
        assert os.stat(name, dir_fd=fd).st_ino == (trees.inside / "sub" / "b.txt").stat().st_ino
    finally:
        os.close(fd)


# --- reading --------------------------------------------------------------------------------------------------------


def test_a_file_longer_than_the_limit_is_not_read(places: Places, trees: Trees) -> None:
    (trees.inside / "long").write_bytes(b"x" * 11)
    with pytest.raises(ToolError, match="is larger than 10 bytes"):
        places.resolve("long").read_bytes(10)


def test_a_file_as_long_as_the_limit_is_read(places: Places, trees: Trees) -> None:
    (trees.inside / "long").write_bytes(b"x" * 10)
    assert places.resolve("long").read_bytes(10) == b"x" * 10


@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_WRONLY, os.O_RDWR])
@pytest.mark.parametrize("kind", ["fifo", "socket", "device"])
def test_what_is_no_file_is_refused_at_once(places: Places, trees: Trees, kind: str, flags: int) -> None:
    path = trees.inside / kind
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "device":
        try:
            os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 5))
        except PermissionError:
            pytest.skip("only root makes devices")
    else:
        with socket.socket(socket.AF_UNIX) as listener:
            here = Path.cwd()
            os.chdir(trees.inside)  # the address of a socket is short
            try:
                listener.bind(kind)
            finally:
                os.chdir(here)
    with pytest.raises(ToolError, match="is not a regular file"):
        places.resolve(kind).open(flags)


def test_a_fifo_is_opened_for_who_asks_for_it(places: Places, trees: Trees) -> None:
    os.mkfifo(trees.inside / "fifo")
    os.close(places.resolve("fifo").open(special=True))


def test_a_descriptor_is_not_handed_to_children(places: Places) -> None:
    fd = places.resolve("a.txt").open()
    try:
        assert os.get_inheritable(fd) is False
    finally:
        os.close(fd)


# --- changing -------------------------------------------------------------------------------------------------------


def test_a_new_file_is_created_where_a_dangling_link_points(places: Places, trees: Trees) -> None:
    (trees.inside / "link").symlink_to("sub/new.txt")
    os.close(places.resolve("link").open(os.O_WRONLY | os.O_CREAT))
    assert (trees.inside / "sub" / "new.txt").exists()


def test_nothing_is_created_through_a_link_that_leaves(places: Places, trees: Trees) -> None:
    (trees.inside / "out").symlink_to(trees.outside / "new.txt")
    with pytest.raises(Refused):
        places.resolve("out").open(os.O_WRONLY | os.O_CREAT)
    assert not (trees.outside / "new.txt").exists()


def test_directories_are_made_with_those_above(places: Places, trees: Trees) -> None:
    assert places.resolve("x/y/z").mkdir() is True
    assert (trees.inside / "x" / "y" / "z").is_dir()


def test_a_directory_that_is_there_is_left_alone(places: Places) -> None:
    assert places.resolve("sub/deep").mkdir() is False


def test_a_directory_is_not_made_without_its_parent_unless_asked(places: Places) -> None:
    with pytest.raises(Missing):
        places.resolve("x/y").mkdir(parents=False)


def test_a_directory_that_cannot_be_made_leaves_no_parents_behind(places: Places, trees: Trees) -> None:
    with pytest.raises(ToolError, match="too long"):
        places.resolve("x/y/" + "z" * 300).mkdir()
    assert not (trees.inside / "x").exists()


def test_a_file_in_the_way_of_a_directory_is_told(places: Places) -> None:
    with pytest.raises(Taken, match="a file is in the way"):
        places.resolve("a.txt").mkdir()


def test_no_directory_is_made_through_a_link_that_leaves(places: Places, trees: Trees) -> None:
    (trees.inside / "out").symlink_to(trees.outside)
    with pytest.raises(Refused):
        places.resolve("out/x").mkdir()
    assert names(trees.outside) == ["secret.txt"]


def test_a_link_is_deleted_and_not_what_it_leads_to(places: Places, trees: Trees) -> None:
    (trees.inside / "out").symlink_to(trees.outside / "secret.txt")
    places.resolve("out").unlink()
    assert (os.path.lexists(trees.inside / "out"), (trees.outside / "secret.txt").exists()) == (False, True)


def test_a_directory_is_not_deleted_as_a_file(places: Places) -> None:
    with pytest.raises(ToolError, match="is a directory"):
        places.resolve("sub").unlink()


def test_a_full_directory_is_not_deleted(places: Places) -> None:
    with pytest.raises(ToolError, match="is not empty"):
        places.resolve("sub").rmdir()


def test_an_empty_directory_is_deleted(places: Places, trees: Trees) -> None:
    (trees.inside / "empty").mkdir()
    places.resolve("empty").rmdir()
    assert not (trees.inside / "empty").exists()


def test_an_allowed_directory_cannot_be_removed(places: Places) -> None:
    with pytest.raises(Refused, match="is itself an allowed directory"):
        places.resolve(".").rmdir()


def test_an_allowed_directory_inside_another_cannot_be_moved(
    trees: Trees, opened: Open, engine: Engine
) -> None:
    places = opened(trees.inside, trees.inside / "sub" / "deep", engine=engine)
    with pytest.raises(Refused, match="is itself an allowed directory"):
        places.resolve(f"{trees.inside}/sub/deep").rename_to(places.resolve("elsewhere"))


def test_a_file_is_moved(places: Places, trees: Trees) -> None:
    places.resolve("a.txt").rename_to(places.resolve("sub/a.txt"))
    assert (trees.inside / "sub" / "a.txt").read_bytes() == b"a"


def test_a_directory_is_moved(places: Places, trees: Trees) -> None:
    places.resolve("sub").rename_to(places.resolve("other"))
    assert (trees.inside / "other" / "deep" / "c.txt").read_bytes() == b"c"


@pytest.mark.parametrize("source", ["a.txt", "sub"])
@pytest.mark.parametrize("kind", ["file", "directory", "dangling link"])
def test_a_move_never_overwrites(places: Places, trees: Trees, source: str, kind: str) -> None:
    there = trees.inside / "there"
    if kind == "file":
        there.write_bytes(b"kept")
    elif kind == "directory":
        there.mkdir()
    else:
        there.symlink_to("nowhere")
    with pytest.raises(Taken, match="'there' exists already"):
        places.resolve(source).rename_to(places.resolve("there"))
    assert (trees.inside / source).exists()


def test_a_move_overwrites_when_asked(places: Places, trees: Trees) -> None:
    places.resolve("a.txt").rename_to(places.resolve("sub/b.txt"), overwrite=True)
    assert (trees.inside / "sub" / "b.txt").read_bytes() == b"a"


@pytest.mark.parametrize("target", ["{outside}", "../outside"])
def test_nothing_is_moved_out_through_a_link(places: Places, trees: Trees, target: str) -> None:
    (trees.inside / "out").symlink_to(target.format(outside=trees.outside))
    with pytest.raises(Refused):
        places.resolve("a.txt").rename_to(places.resolve("out/a.txt"))
    assert (trees.inside / "a.txt").exists()


def test_nothing_is_moved_in_through_a_link(places: Places, trees: Trees) -> None:
    (trees.inside / "out").symlink_to(trees.outside)
    with pytest.raises(Refused):
        places.resolve("out/secret.txt").rename_to(places.resolve("mine.txt"))


def test_a_directory_is_not_moved_into_itself(places: Places) -> None:
    with pytest.raises(ToolError):
        places.resolve("sub").rename_to(places.resolve("sub/deep/sub"))


def test_a_move_to_another_disk_says_so(trees: Trees, opened: Open, engine: Engine) -> None:
    shm = Path("/dev/shm")
    if not shm.is_dir() or shm.stat().st_dev == trees.inside.stat().st_dev:
        pytest.skip("only one file system here")
    places = opened(trees.inside, shm, engine=engine)
    with pytest.raises(OtherDisk, match="copy it there"):
        places.resolve("a.txt").rename_to(places.resolve(f"/dev/shm/{os.getpid()}-never-there"))


# --- nothing is left open -------------------------------------------------------------------------------------------


def test_no_descriptor_is_left_open_by_success_or_refusal(trees: Trees, opened: Open, engine: Engine) -> None:
    places = opened(trees.inside, engine=engine)
    (trees.inside / "out").symlink_to(trees.outside)
    (trees.inside / "abs").symlink_to(trees.inside / "sub")
    os.mkfifo(trees.inside / "fifo")
    before = names(Path("/proc/self/fd"))
    for text in ("a.txt", "sub/b.txt", "abs/b.txt", "out/secret.txt", "fifo", "gone", "sub", "a.txt/x"):
        with suppress(ToolError):
            places.resolve(text).read_bytes(10)
        with suppress(ToolError):
            replace(places.resolve(text), b"new")
        with suppress(ToolError):
            places.resolve(text).listdir()
        with suppress(ToolError):
            places.resolve(f"{text}/x/y").mkdir()
        with suppress(ToolError):
            places.resolve(text).rename_to(places.resolve("sub"))
    assert names(Path("/proc/self/fd")) == before


def test_closing_places_closes_their_directories(trees: Trees, handle_engine: Engine) -> None:
    before = names(Path("/proc/self/fd"))
    Places([Grant(str(trees.inside))], engine=handle_engine).close()
    assert names(Path("/proc/self/fd")) == before


# --- renaming where the kernel does not help ------------------------------------------------------------------------


def landings(trees: Trees, source: str, to: str) -> tuple[HandleLanding, HandleLanding]:
    handle = Handle(os.open(trees.inside, os.O_RDONLY | os.O_DIRECTORY))
    return HandleLanding(handle, source), HandleLanding(handle, to)


@pytest.mark.parametrize("source", ["a.txt", "sub", "link"])
def test_a_rename_in_steps_moves(trees: Trees, source: str) -> None:
    (trees.inside / "link").symlink_to("nowhere")
    rename_in_steps(*landings(trees, source, "new"))
    assert (os.path.lexists(trees.inside / source), os.path.lexists(trees.inside / "new")) == (False, True)


@pytest.mark.parametrize("source", ["a.txt", "sub"])
@pytest.mark.parametrize("taken", ["file", "empty"])
def test_a_rename_in_steps_never_overwrites(trees: Trees, source: str, taken: str) -> None:
    (trees.inside / "file").touch()
    (trees.inside / "empty").mkdir()
    with pytest.raises(FileExistsError):
        rename_in_steps(*landings(trees, source, taken))


def test_a_rename_in_steps_that_fails_leaves_nothing_behind(trees: Trees) -> None:
    with pytest.raises(OSError) as failure:
        rename_in_steps(*landings(trees, "sub", "sub/deep/sub"))
    assert (failure.value.errno, names(trees.inside / "sub" / "deep")) == (errno.EINVAL, ["c.txt"])


# --- read-only places -----------------------------------------------------------------------------------------------


CHANGES: dict[str, Callable[[Places], object]] = {
    "open_parent": lambda places: places.resolve("a.txt").open_parent(write=True),
    "open": lambda places: places.resolve("a.txt").open(os.O_WRONLY),
    "mkdir": lambda places: places.resolve("new").mkdir(),
    "unlink": lambda places: places.resolve("a.txt").unlink(),
    "rmdir": lambda places: places.resolve("sub/deep").rmdir(),
    "rename_to": lambda places: places.resolve("a.txt").rename_to(places.resolve("new")),
    "replace": lambda places: replace(places.resolve("a.txt"), b"new"),
    "create_exclusive": lambda places: create_exclusive(places.resolve("new"), b"new"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_read_only_place_is_not_changed(
    trees: Trees, opened: Open, engine: Engine, change: Callable[[Places], object]
) -> None:
    places = opened(Grant(str(trees.inside), writable=False), engine=engine)
    with pytest.raises(Refused, match="is in a read-only directory"):
        change(places)


@pytest.mark.parametrize("text", ["{inside}/sub/b.txt", "link/b.txt", "{inside}/sub/deep/../b.txt"])
def test_a_read_only_place_inside_a_writable_one_is_not_changed_on_any_way(
    trees: Trees, opened: Open, engine: Engine, text: str
) -> None:
    (trees.inside / "link").symlink_to("sub")
    places = opened(trees.inside, Grant(f"{trees.inside}/sub", writable=False), engine=engine)
    with pytest.raises(Refused, match="is in a read-only directory"):
        replace(places.resolve(text.format(inside=trees.inside)), b"new")


def test_what_the_operator_made_read_only_stays_so_when_roots_are_narrower(
    trees: Trees, opened: Open, engine: Engine
) -> None:
    places = opened(
        trees.inside,
        Grant(f"{trees.inside}/sub/deep", writable=False),
        roots=[f"file://{trees.inside}/sub"],
        engine=engine,
    )
    with pytest.raises(Refused, match="is in a read-only directory"):
        replace(places.resolve("deep/c.txt"), b"new")


def test_a_writable_place_inside_a_read_only_one_can_be_changed(
    trees: Trees, opened: Open, engine: Engine
) -> None:
    places = opened(Grant(str(trees.inside), writable=False), trees.inside / "sub", engine=engine)
    replace(places.resolve(f"{trees.inside}/sub/b.txt"), b"new")
    assert (trees.inside / "sub" / "b.txt").read_bytes() == b"new"


def test_a_directory_that_holds_an_allowed_one_stays_where_it_is(
    trees: Trees, opened: Open, engine: Engine
) -> None:
    deep = Grant(f"{trees.inside}/sub/deep", writable=False)
    places = opened(trees.inside, deep, engine=engine)
    with pytest.raises(Refused, match="'sub' holds an allowed directory"):
        places.resolve("sub").rename_to(places.resolve("elsewhere"))
    assert names(trees.inside) == ["a.txt", "sub"]
    places.resolve("sub/b.txt").rename_to(places.resolve("b.txt"))
    assert names(trees.inside / "sub") == ["deep"]
