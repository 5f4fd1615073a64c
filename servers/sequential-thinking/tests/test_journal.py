"""A file that keeps thoughts: over restarts, crashes, and several processes at once."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcp_server_sequential_thinking.journal import Journal, Unreadable
from mcp_server_sequential_thinking.shelf import Limits, Shelf, Who
from mcp_server_sequential_thinking.thoughts import MAX_THOUGHTS, Misfit, Step

KILLS = int(os.environ.get("THINKING_KILLS", "5"))
LIMITS = Limits()
THINKER = Path(__file__).with_name("thinker.py")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "thoughts.journal"


def shelf_on(store: Path, limits: Limits = LIMITS) -> Shelf:
    shelf = Shelf(Journal(str(store)), limits=limits)
    shelf.refresh()
    return shelf


def step(number: int, text: str = "so", **more: object) -> Step:
    return Step(text, number, 5, next_needed=True)._replace(**more)


def texts(shelf: Shelf, handle: str) -> list[str]:
    return [thought.text for thought in shelf.look(Who(handle))]


def test_thoughts_are_there_after_a_restart_with_all_that_belongs_to_them(store: Path) -> None:
    shelf = shelf_on(store)
    handle = shelf.add(step(1, "häppy \N{GRINNING FACE}\nnew line\x00"), Who()).id
    shelf.add(step(2, branch="b", branch_from=1), Who(handle))
    shelf.add(step(3, revises=1, more_needed=True, next_needed=False), Who(handle))
    assert [*shelf_on(store).look(Who(handle))] == [*shelf.look(Who(handle))]


def test_a_handle_goes_on_where_the_last_process_stopped(store: Path) -> None:
    handle = shelf_on(store).add(step(1), Who()).id
    added = shelf_on(store).add(step(2), Who(handle))
    assert (added.length, added.thought.ordinal) == (2, 2)


def test_the_file_is_private_and_its_folder_is_made(tmp_path: Path) -> None:
    store = tmp_path / "new" / "folder" / "thoughts"
    shelf_on(store).add(step(1), Who())
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert [*store.parent.iterdir()] == [store], "nothing else is left beside it"


def test_reading_makes_no_file(store: Path) -> None:
    with pytest.raises(Misfit):
        shelf_on(store).look(Who("nothing"))
    assert not store.exists()


@pytest.mark.parametrize(
    "content", [b"# My notes\n", b"{}", b"\x00" * 100, b"sequential-thinking journal 1 "]
)
def test_a_file_of_another_kind_is_refused_and_left_alone(store: Path, content: bytes) -> None:
    store.write_bytes(content)
    with pytest.raises(Unreadable):
        shelf_on(store)
    assert store.read_bytes() == content


def test_a_directory_is_no_journal(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="it is a directory"):
        shelf_on(tmp_path)


def test_a_line_torn_at_any_byte_spoils_only_itself(store: Path) -> None:
    shelf = shelf_on(store)
    handle = shelf.add(step(1, "first"), Who()).id
    whole = store.stat().st_size
    shelf.add(step(2, "second"), Who(handle))
    content = store.read_bytes()
    for cut in range(whole, len(content)):
        store.write_bytes(content[:cut])
        again = shelf_on(store)
        assert texts(again, handle) == ["first"]
        again.add(step(2, "third"), Who(handle))
        assert texts(again, handle) == ["first", "third"]
        assert texts(shelf_on(store), handle) == ["first", "third"]


def test_a_byte_changed_anywhere_spoils_at_most_its_line(store: Path) -> None:
    shelf = shelf_on(store)
    handle = shelf.add(step(1, "first"), Who()).id
    start = store.stat().st_size
    for number, text in enumerate(("second", "third"), 2):
        shelf.add(step(number, text), Who(handle))
    content = store.read_bytes()
    second = content.index(b"\n", start)
    for place in range(start, second):
        store.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert texts(shelf_on(store), handle) in (["first", "third"], ["first"]), place


def test_a_failed_write_leaves_nothing_behind_and_is_no_thought(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = shelf_on(store)
    handle = shelf.add(step(1, "first"), Who()).id
    before = store.read_bytes()

    def fail(fd: int) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)  # the disk is full when the bytes should get there
        with pytest.raises(Exception, match="disk is full"):
            shelf.add(step(2, "lost"), Who(handle))
    assert store.read_bytes() == before
    shelf.add(step(2, "second"), Who(handle))
    assert texts(shelf, handle) == texts(shelf_on(store), handle) == ["first", "second"]


def test_the_file_is_rewritten_before_it_is_mostly_dead(store: Path) -> None:
    shelf = shelf_on(store, Limits(chains=2))
    other = shelf_on(store, Limits(chains=2))
    sizes: list[int] = []
    last = ""
    for number in range(3000):
        last = shelf.add(step(1, f"{number} " + "x" * 100), Who()).id
        sizes.append(store.stat().st_size)
    assert max(sizes) < 1200 * 300, "the dead never outweigh what is allowed"
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert texts(other, last) == texts(shelf, last), "a process that held the old file reads the new one"
    assert texts(shelf_on(store), last) == texts(shelf, last)


def test_a_thought_is_kept_also_when_the_file_cannot_be_rewritten(
    store: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shelf = shelf_on(store, Limits(chains=1))
    monkeypatch.setattr("mcp_server_sequential_thinking.shelf._SLACK", 2)
    shelf.add(step(1), Who())

    def fail(source: object, target: object, **more: object) -> None:
        raise OSError(28, os.strerror(28))

    for name in ("rename", "replace", "link"):
        monkeypatch.setattr(os, name, fail)
    last = ""
    for number in range(10):
        last = shelf.add(step(1, f"{number}"), Who()).id
    assert "could not be rewritten" in caplog.text
    monkeypatch.undo()
    assert texts(shelf_on(store, Limits(chains=1)), last) == ["9"]
    assert [*store.parent.iterdir()] == [store]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=40), max_size=8))
def test_rubbish_in_the_file_is_left_out(rubbish: list[bytes]) -> None:
    with TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        shelf = shelf_on(store)
        handle = shelf.add(step(1, "first"), Who()).id
        with store.open("ab") as file:
            file.write(b"\n".join(rubbish))
        again = shelf_on(store)
        again.add(step(2, "second"), Who(handle))
        assert texts(again, handle) == texts(shelf_on(store), handle) == ["first", "second"]


def test_a_rewritten_file_holds_the_same_chains_in_the_same_order(store: Path) -> None:
    limits, random = Limits(chains=5), Random(8)
    shelf = shelf_on(store, limits)
    handles: list[str] = []
    for number in range(2500):
        who = Who(random.choice(handles[-5:])) if handles and random.random() < 0.6 else Who()
        try:
            handles.append(shelf.add(step(number + 1, f"{number}"), who).id)
        except Misfit:
            continue
    again = shelf_on(store, limits)
    held = {handle for handle in handles if _holds(shelf, handle)}
    assert len(held) == 5
    assert held == {handle for handle in handles if _holds(again, handle)}
    while held:
        shelf.add(step(1), Who())
        held = {handle for handle in held if _holds(shelf, handle)}
        assert held == {handle for handle in handles if _holds(again, handle)}, "the same one goes next"


def test_two_shelves_on_one_file_see_each_others_thoughts_at_once(store: Path) -> None:
    one, two = shelf_on(store), shelf_on(store)
    handle = one.add(step(1, "one"), Who()).id
    two.add(step(2, "two"), Who(handle))
    one.add(step(3, "three"), Who(handle))
    assert texts(two, handle) == texts(one, handle) == ["one", "two", "three"]
    assert [thought.ordinal for thought in two.look(Who(handle))] == [1, 2, 3]
    assert two.refresh() == [handle]
    assert two.refresh() == []


def test_a_file_that_is_taken_away_takes_its_chains_along(store: Path) -> None:
    shelf = shelf_on(store)
    handle = shelf.add(step(1), Who(peer="ann", continues=True)).id
    store.unlink()
    with pytest.raises(Misfit):
        shelf.look(Who(handle))
    added = shelf.add(step(1), Who(peer="ann", continues=True))
    assert added.id != handle
    assert set(added.changed) == {handle, added.id}, "whoever watches the old one hears of it"


def _holds(shelf: Shelf, handle: str) -> bool:
    try:
        shelf.look(Who(handle))
    except Misfit:
        return False
    return True


# Real processes.


@pytest.fixture
def thinkers() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for thinker in started:
        thinker.kill()
        thinker.wait()


def start(store: Path, *arguments: Any) -> subprocess.Popen[str]:
    """A process that thinks and prints what was acknowledged."""
    command = [sys.executable, str(THINKER), str(store), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_every_acknowledged_thought_survives_kill_9(
    store: Path, thinkers: list[subprocess.Popen[str]]
) -> None:
    random = Random(9)
    handle = shelf_on(store).add(step(1, "start"), Who()).id
    acknowledged: list[str] = ["start"]
    for _ in range(KILLS):
        thinker = start(store, handle, 1_000_000)
        thinkers.append(thinker)
        assert thinker.stdout is not None
        for _ in range(random.randrange(5, 40)):
            acknowledged.append(thinker.stdout.readline().strip())
        thinker.send_signal(signal.SIGKILL)
        rest, _ = thinker.communicate()
        acknowledged += rest.split("\n")[:-1]  # a line without an end was never said
        kept = texts(shelf_on(store), handle)
        said = [text for text in kept if text in set(acknowledged)]
        assert said == acknowledged[-len(said) :]
        assert len(said) == len(acknowledged) or len(kept) == MAX_THOUGHTS
        assert len(kept) - len(said) <= KILLS, "at most one thought per kill was kept and not yet said"


def test_two_processes_on_one_file_lose_nothing(store: Path, thinkers: list[subprocess.Popen[str]]) -> None:
    handle = shelf_on(store).add(step(1, "start"), Who()).id
    thinkers += [start(store, handle, 100) for _ in range(2)]
    said = [thinker.communicate(timeout=60)[0].split() for thinker in thinkers]
    assert [len(one) for one in said] == [100, 100]
    kept = [*shelf_on(store).look(Who(handle))]
    assert sorted(thought.text for thought in kept) == sorted(["start", *said[0], *said[1]])
    assert [thought.ordinal for thought in kept] == list(range(1, 202))
