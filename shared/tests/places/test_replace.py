"""A file is the old one or the new one, and stays what it was."""

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from mcp_server_core.errors import ToolError
from mcp_server_core.places import (
    Changed,
    Missing,
    Places,
    Refused,
    Stamp,
    Taken,
    Written,
    create_exclusive,
    replace,
    turn,
)
from mcp_server_core.places import draft as drafts
from mcp_server_core.places.draft import PREFIX, Draft
from mcp_server_core.places.landing import HandleLanding
from mcp_server_core.places.walk import Engine

from .conftest import SECRET, Open, Trees, names


@pytest.fixture
def places(trees: Trees, opened: Open, engine: Engine) -> Places:
    return opened(trees.inside, engine=engine)


def failing(first: bytes) -> Iterator[bytes]:
    yield first
    raise RuntimeError("the producer failed")


# --- what becomes of the content ------------------------------------------------------------------------------------


def test_an_existing_file_is_replaced(places: Places, trees: Trees) -> None:
    assert replace(places.resolve("a.txt"), b"new content") == Written("replaced", 11)
    assert (trees.inside / "a.txt").read_bytes() == b"new content"


def test_a_new_file_is_created(places: Places, trees: Trees) -> None:
    assert replace(places.resolve("new.txt"), b"new") == Written("created", 3)
    assert (trees.inside / "new.txt").read_bytes() == b"new"


def test_content_may_come_in_pieces(places: Places, trees: Trees) -> None:
    assert replace(places.resolve("a.txt"), iter([b"one ", b"", b"two"])) == Written("replaced", 7)
    assert (trees.inside / "a.txt").read_bytes() == b"one two"


def test_a_file_can_become_empty(places: Places, trees: Trees) -> None:
    assert replace(places.resolve("a.txt"), b"") == Written("replaced", 0)
    assert (trees.inside / "a.txt").read_bytes() == b""


def test_nothing_else_appears_in_the_directory(places: Places, trees: Trees) -> None:
    replace(places.resolve("a.txt"), b"new")
    replace(places.resolve("b.txt"), b"new")
    assert names(trees.inside) == ["a.txt", "b.txt", "sub"]


@pytest.mark.parametrize("name", ["a.txt", "new.txt"])
def test_content_that_fails_half_way_changes_nothing(places: Places, trees: Trees, name: str) -> None:
    before = names(trees.inside)
    with pytest.raises(RuntimeError, match="the producer failed"):
        replace(places.resolve(name), failing(b"half"))
    assert (names(trees.inside), (trees.inside / "a.txt").read_bytes()) == (before, b"a")


def test_a_file_whose_directory_is_missing_is_not_written(places: Places) -> None:
    with pytest.raises(Missing):
        replace(places.resolve("gone/new.txt"), b"x")


def test_a_directory_is_not_written(places: Places) -> None:
    with pytest.raises(ToolError, match="is a directory"):
        replace(places.resolve("sub"), b"x")


def test_a_fifo_is_not_written(places: Places, trees: Trees) -> None:
    os.mkfifo(trees.inside / "fifo")
    with pytest.raises(ToolError, match="is not a regular file"):
        replace(places.resolve("fifo"), b"x")


# --- what the file was, it stays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o4755])
def test_the_mode_is_kept(trees: Trees, opened: Open, handle_engine: Engine, mode: int) -> None:
    (trees.inside / "a.txt").chmod(mode)
    replace(opened(trees.inside, engine=handle_engine).resolve("a.txt"), b"new")
    assert stat.S_IMODE((trees.inside / "a.txt").stat().st_mode) == mode


def test_while_it_is_written_nobody_else_may_read_it(
    trees: Trees, opened: Open, handle_engine: Engine
) -> None:
    landing = opened(trees.inside, engine=handle_engine).resolve("a.txt").landing()
    with Draft(landing, 0o600, nameless=False) as draft:
        assert stat.S_IMODE(os.fstat(draft.fd).st_mode) == 0o600


def test_a_new_file_honours_the_umask(places: Places, trees: Trees) -> None:
    before = os.umask(0o027)
    try:
        replace(places.resolve("new.txt"), b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((trees.inside / "new.txt").stat().st_mode) == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(trees: Trees, opened: Open, handle_engine: Engine) -> None:
    os.chown(trees.inside / "a.txt", 1234, 5678)
    written = replace(opened(trees.inside, engine=handle_engine).resolve("a.txt"), b"new")
    found = (trees.inside / "a.txt").stat()
    assert (written.strategy, found.st_uid, found.st_gid) == ("replaced", 1234, 5678)


def test_extended_attributes_are_kept(trees: Trees, opened: Open, handle_engine: Engine) -> None:
    try:
        os.setxattr(trees.inside / "a.txt", "user.origin", b"here")
    except OSError:
        pytest.skip("this file system has no attributes")
    replace(opened(trees.inside, engine=handle_engine).resolve("a.txt"), b"new")
    assert os.getxattr(trees.inside / "a.txt", "user.origin") == b"here"


def test_hard_links_are_kept_by_writing_in_place(places: Places, trees: Trees) -> None:
    os.link(trees.inside / "a.txt", trees.inside / "twin")
    assert replace(places.resolve("a.txt"), b"new") == Written("in place", 3)
    assert (trees.inside / "twin").read_bytes() == b"new"


def test_writing_in_place_can_make_a_file_shorter(places: Places, trees: Trees) -> None:
    (trees.inside / "a.txt").write_bytes(b"x" * 100)
    os.link(trees.inside / "a.txt", trees.inside / "twin")
    replace(places.resolve("a.txt"), b"short")
    assert (trees.inside / "twin").read_bytes() == b"short"


def test_content_that_fails_half_way_does_not_touch_a_file_that_is_written_in_place(
    places: Places, trees: Trees
) -> None:
    os.link(trees.inside / "a.txt", trees.inside / "twin")
    with pytest.raises(RuntimeError):
        replace(places.resolve("a.txt"), failing(b"half"))
    assert (trees.inside / "a.txt").read_bytes() == b"a"


def test_a_link_is_kept_and_its_file_is_written(places: Places, trees: Trees) -> None:
    (trees.inside / "link").symlink_to("sub/b.txt")
    replace(places.resolve("link"), b"new")
    assert (str((trees.inside / "link").readlink()), (trees.inside / "sub" / "b.txt").read_bytes()) == (
        "sub/b.txt",
        b"new",
    )


@pytest.mark.parametrize("target", ["secret.txt", "new.txt"])
def test_a_link_that_leaves_is_not_written_through(places: Places, trees: Trees, target: str) -> None:
    (trees.inside / "out").symlink_to(trees.outside / target)
    with pytest.raises(Refused):
        replace(places.resolve("out"), b"overwritten")
    assert (names(trees.outside), (trees.outside / "secret.txt").read_bytes()) == (
        ["secret.txt"],
        SECRET,
    )


# --- only if it is what the caller saw ------------------------------------------------------------------------------


def test_the_content_the_caller_saw_is_replaced(places: Places, trees: Trees) -> None:
    replace(places.resolve("a.txt"), b"new", expected=sha256(b"a").hexdigest().upper())
    assert (trees.inside / "a.txt").read_bytes() == b"new"


@pytest.mark.parametrize("twin", [False, True])
def test_other_content_than_the_caller_saw_is_kept(places: Places, trees: Trees, twin: bool) -> None:
    if twin:
        os.link(trees.inside / "a.txt", trees.inside / "twin")
    with pytest.raises(Changed, match="has changed since it was read"):
        replace(places.resolve("a.txt"), b"new", expected=sha256(b"other").hexdigest())
    assert (trees.inside / "a.txt").read_bytes() == b"a"


def test_a_file_that_the_caller_saw_and_that_is_gone_is_not_made_again(places: Places, trees: Trees) -> None:
    with pytest.raises(Changed):
        replace(places.resolve("gone"), b"new", expected=sha256(b"").hexdigest())
    assert not (trees.inside / "gone").exists()


def test_a_stamp_notices_a_change(places: Places, trees: Trees) -> None:
    stamp = Stamp.of(places.resolve("a.txt").stat())
    (trees.inside / "a.txt").write_bytes(b"ab")
    with pytest.raises(Changed):
        replace(places.resolve("a.txt"), b"new", expected=stamp)


def test_a_stamp_lets_an_unchanged_file_be_replaced(places: Places) -> None:
    stamp = Stamp.of(places.resolve("a.txt").stat())
    assert replace(places.resolve("a.txt"), b"new", expected=stamp) == Written("replaced", 3)


# --- only if there is nothing ---------------------------------------------------------------------------------------


def test_a_file_is_created_only_once(places: Places, trees: Trees) -> None:
    assert create_exclusive(places.resolve("new"), b"first") == Written("created", 5)
    with pytest.raises(Taken, match="exists already: choose another name"):
        create_exclusive(places.resolve("new"), b"second")
    assert (trees.inside / "new").read_bytes() == b"first"


def test_a_dangling_link_counts_as_something(places: Places, trees: Trees) -> None:
    (trees.inside / "link").symlink_to("nowhere")
    with pytest.raises(Taken):
        create_exclusive(places.resolve("link"), b"x")
    assert not (trees.inside / "nowhere").exists()


@pytest.mark.parametrize("nameless", [False, True])
def test_a_draft_does_not_overwrite_what_appeared_meanwhile(
    trees: Trees, opened: Open, handle_engine: Engine, nameless: bool
) -> None:
    landing = opened(trees.inside, engine=handle_engine).resolve("late").landing()
    with Draft(landing, 0o666, nameless=nameless) as draft:
        draft.fill(b"ours")
        (trees.inside / "late").write_bytes(b"theirs")
        with pytest.raises(FileExistsError):
            draft.put(overwrite=False)
    assert (names(trees.inside), (trees.inside / "late").read_bytes()) == (
        ["a.txt", "late", "sub"],
        b"theirs",
    )


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_draft_with_a_hidden_name_works_like_one_without(
    trees: Trees, opened: Open, handle_engine: Engine, overwrite: bool
) -> None:
    name = "a.txt" if overwrite else "new.txt"
    landing = opened(trees.inside, engine=handle_engine).resolve(name).landing()
    with Draft(landing, 0o600, nameless=False) as draft:
        draft.fill(b"hidden")
        draft.put(overwrite=overwrite)
    assert (trees.inside / name).read_bytes() == b"hidden"
    assert not [left for left in names(trees.inside) if left.startswith(PREFIX)]


# --- what killed writers leave --------------------------------------------------------------------------------------


def test_what_a_killed_writer_left_is_swept_by_the_next_write(places: Places, trees: Trees) -> None:
    (trees.inside / f"{PREFIX}0123").write_bytes(b"half")
    replace(places.resolve("a.txt"), b"new")
    assert names(trees.inside) == ["a.txt", "sub"]


def test_what_a_writer_still_holds_is_not_swept(trees: Trees, opened: Open, handle_engine: Engine) -> None:
    places = opened(trees.inside, engine=handle_engine)
    with Draft(places.resolve("b.txt").landing(), 0o666, nameless=False) as draft:
        replace(places.resolve("a.txt"), b"new")
        draft.fill(b"b")
        draft.put(overwrite=False)
    assert (trees.inside / "b.txt").read_bytes() == b"b"


def test_a_link_that_looks_like_a_draft_is_left_alone(places: Places, trees: Trees) -> None:
    (trees.inside / f"{PREFIX}link").symlink_to(trees.outside / "secret.txt")
    replace(places.resolve("a.txt"), b"new")
    assert (trees.outside / "secret.txt").read_bytes() == SECRET


def test_a_directory_is_swept_once(trees: Trees, opened: Open) -> None:
    places = opened(trees.inside)
    replace(places.resolve("a.txt"), b"new")
    landing = places.resolve("a.txt").landing()
    assert isinstance(landing, HandleLanding)
    assert landing.handle.identity() in drafts._swept


# --- taking turns ---------------------------------------------------------------------------------------------------


def test_fifty_threads_that_read_change_and_write_lose_nothing(
    trees: Trees, opened: Open, handle_engine: Engine
) -> None:
    places = opened(trees.inside, engine=handle_engine)
    (trees.inside / "count").write_bytes(b"0")

    def add() -> None:
        spot = places.resolve("count")
        with turn(spot):
            replace(spot, str(int(spot.read_bytes(100)) + 1).encode(), durable=False)

    threads = [threading.Thread(target=add) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (trees.inside / "count").read_bytes() == b"50"


ADD = """
import sys
from mcp_server_core.places import Grant, Places, replace, turn
spot = Places([Grant(sys.argv[1])]).resolve("count")
for _ in range(25):
    with turn(spot):
        replace(spot, str(int(spot.read_bytes(100)) + 1).encode(), durable=False)
"""


def test_processes_that_read_change_and_write_lose_nothing(trees: Trees) -> None:
    (trees.inside / "count").write_bytes(b"0")
    children = [subprocess.Popen([sys.executable, "-c", ADD, str(trees.inside)]) for _ in range(4)]
    assert [child.wait(20) for child in children] == [0, 0, 0, 0]
    assert (trees.inside / "count").read_bytes() == b"100"


def test_who_waits_too_long_for_a_turn_is_told(trees: Trees, opened: Open, engine: Engine) -> None:
    places = opened(trees.inside, engine=engine)
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        with turn(places.resolve("a.txt")):
            holding.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait(10)
    try:
        with (
            pytest.raises(ToolError, match="is being written by another program"),
            turn(places.resolve("a.txt"), patience=0),
        ):
            pass
    finally:
        done.set()
        thread.join()


def test_a_write_that_starts_while_a_turn_is_held_waits_for_it(
    trees: Trees, opened: Open, engine: Engine
) -> None:
    places = opened(trees.inside, engine=engine)
    with turn(places.resolve("a.txt")):
        thread = threading.Thread(target=lambda: replace(places.resolve("a.txt"), b"later"))
        thread.start()
        replace(places.resolve("a.txt"), b"sooner")
        assert (trees.inside / "a.txt").read_bytes() == b"sooner"
    thread.join(10)
    assert (trees.inside / "a.txt").read_bytes() == b"later"


def test_a_path_in_another_spelling_shares_the_turn(trees: Trees, opened: Open, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(trees.inside)
    one, two = opened(trees.inside), opened(tmp_path / "alias")
    with turn(one.resolve("a.txt")), turn(two.resolve("a.txt")):
        replace(two.resolve("a.txt"), b"new")
    assert (trees.inside / "a.txt").read_bytes() == b"new"


@pytest.mark.parametrize("nameless", [True, False])
def test_a_new_file_has_its_mode_while_it_is_written(
    trees: Trees, opened: Open, monkeypatch: pytest.MonkeyPatch, nameless: bool
) -> None:
    if not nameless:
        monkeypatch.setattr("mcp_server_core.places.draft._NAMELESS", 0)
    seen: list[int] = []

    def chunks() -> Iterator[bytes]:
        yield b"first"
        seen.extend(path.stat().st_mode & 0o777 for path in trees.inside.glob(".mcp-tmp-*"))

    create_exclusive(opened(trees.inside).resolve("secret"), chunks(), mode=0o600)
    assert seen == ([] if nameless else [0o600])
    assert (trees.inside / "secret").stat().st_mode & 0o777 == 0o600
