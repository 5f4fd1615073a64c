"""The state of a server is left in order, whatever the reason for which the process ends."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import pytest

from .process import PROMISE, SLACK, Process, call, ping, start, wait_for_all

ENDINGS = ["EOF", "SIGTERM", "SIGINT", "SIGHUP"]
IN_ORDER = ["opened", "background ended", "closing", "closed"]


def end(process: Process, how: str) -> None:
    if how == "EOF":
        process.close_input()
    else:
        process.kill(signal.Signals[how])


@pytest.mark.parametrize("how", ENDINGS)
def test_a_state_is_closed_in_order(tmp_path: Path, how: str) -> None:
    diary = tmp_path / "diary"
    with start("keeper.py", str(diary)) as keeper:
        keeper.say(call(1, "touch"))
        end(keeper, how)
        assert keeper.wait() == 0
    assert diary.read_text().split("\n")[:-1] == IN_ORDER


@pytest.mark.parametrize("how", ENDINGS)
def test_a_state_is_closed_after_the_calls_that_use_it(tmp_path: Path, how: str) -> None:
    diary = tmp_path / "diary"
    with start("keeper.py", str(diary)) as keeper:
        keeper.send(call(1, "hang"))
        keeper.hear("hanging")
        end(keeper, how)
        assert keeper.wait() == 0
    said = diary.read_text().split("\n")[:-1]
    assert said.index("call ended") < said.index("closing") < said.index("closed")


def test_a_state_is_closed_in_order_when_another_thread_gets_the_signal(tmp_path: Path) -> None:
    # The main thread sleeps in its selector, and nothing wakes it but what we have arranged for that.
    diary, fifo = tmp_path / "diary", tmp_path / "fifo"
    os.mkfifo(fifo)
    with start("keeper.py", str(diary)) as keeper:
        keeper.say(call(1, "signal_later", fifo=str(fifo)))
        fifo.write_bytes(b"now")
        assert keeper.wait() == 0
    assert diary.read_text().split("\n")[:-1] == IN_ORDER


def test_a_state_is_closed_in_order_when_the_client_stops_listening(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with start("keeper.py", str(diary)) as keeper:
        keeper.say(call(1, "touch"))
        keeper.close_output()
        keeper.send(ping(2))
        assert keeper.wait() == 0
    assert diary.read_text().split("\n")[:-1] == IN_ORDER


@pytest.mark.parametrize("how", ENDINGS)
def test_a_state_that_was_never_used_is_left_in_order(tmp_path: Path, how: str) -> None:
    diary = tmp_path / "diary"
    with start("keeper.py", str(diary)) as keeper:
        keeper.ask(ping(1))
        end(keeper, how)
        assert keeper.wait() == 0
    assert not diary.exists() or diary.read_text().split("\n")[:-1] == IN_ORDER


def test_a_state_is_not_opened_for_a_client_that_says_nothing(tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    with start("keeper.py", str(diary)) as keeper:
        keeper.close_input()
        assert keeper.wait() == 0
    assert not diary.exists()


@pytest.fixture(scope="module")
def stuck(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """After how long servers were gone whose state does not close; all at once, because it takes its time."""
    folder = tmp_path_factory.mktemp("stuck")
    with ExitStack() as stack:
        keepers = {
            (way, how): stack.enter_context(start("keeper.py", str(folder / f"{way} {how}"), way))
            for way in ("for ever", "blocking")
            for how in ("EOF", "SIGTERM")
        }
        for keeper in keepers.values():
            keeper.say(call(1, "touch"))
        for (_, how), keeper in keepers.items():
            end(keeper, how)
        gone = wait_for_all(keepers.values(), PROMISE + SLACK)
        return {key: gone.get(keeper, float("inf")) for key, keeper in keepers.items()}


@pytest.mark.parametrize("how", ["EOF", "SIGTERM"])
@pytest.mark.parametrize("way", ["for ever", "blocking"])
def test_a_state_that_does_not_close_does_not_keep_the_process_alive(
    stuck: dict[tuple[str, str], float], way: str, how: str
) -> None:
    assert stuck[way, how] < PROMISE + SLACK


def test_a_state_that_fails_to_close_is_reported_and_does_not_spoil_the_exit_code(tmp_path: Path) -> None:
    with start("keeper.py", str(tmp_path / "diary"), "raising") as keeper:
        keeper.say(call(1, "touch"))
        keeper.close_input()
        assert keeper.wait() == 0
        keeper.hear("the disk is full")
