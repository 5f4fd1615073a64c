"""Nothing but protocol on the wire: what a handler, a library or a child process says goes to standard error (S-2)."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from .process import Process, call, ping, start, wait_for_all

WAYS = [
    "print",
    "sys.stdout.write",
    "sys.stdout.buffer",
    "sys.__stdout__",
    "os.write",
    "open(1)",
    "child",
    "shell",
    "/dev/stdout",
    "puts",
    "logging",
    "warnings",
]


@pytest.fixture(scope="module")
def talker() -> Iterator[Process]:
    with start("talker.py") as process:
        process.ask(ping("ready"))
        yield process


@pytest.mark.parametrize("way", WAYS)
def test_what_a_tool_says_arrives_on_standard_error_while_the_server_runs(talker: Process, way: str) -> None:
    talker.ask(call(1, "talk", way=way, text=f"said by {way}"))
    talker.hear(f"said by {way}")


@pytest.mark.parametrize("way", WAYS)
def test_what_a_tool_says_does_not_stand_on_the_wire(talker: Process, way: str) -> None:
    talker.send(call(1, "talk", way=way, text="stray"))
    talker.read()
    talker.send(ping(2))
    assert talker.read() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def test_nothing_that_was_said_stands_on_the_wire_at_the_end() -> None:
    with start("talker.py") as talker:
        for way in WAYS:
            talker.say(call(1, "talk", way=way, text="stray"))
        talker.close_input()
        assert talker.read_rest() == b""


def test_what_c_code_never_flushed_arrives_on_standard_error_at_the_end() -> None:
    with start("talker.py") as talker:
        talker.ask(call(1, "talk", way="puts, never flushed", text="buffered in C"))
        talker.close_input()
        assert talker.read_rest() == b""
        talker.hear("buffered in C")


def test_a_print_at_import_does_not_stand_on_the_wire() -> None:
    with start("talker.py") as talker:
        assert talker.ask(ping(1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_forked_child_does_not_write_on_the_wire() -> None:
    with start("talker.py") as talker:
        assert talker.say(call(1, "fork", text="from a fork")) == "0"
        talker.hear("from a fork")


def test_text_that_the_locale_cannot_write_can_be_printed() -> None:
    with start("talker.py", LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONUTF8="0") as talker:
        assert talker.say(call(1, "talk", way="print", text="żółw")) == "said"


def test_a_failing_tool_is_reported_on_standard_error_only() -> None:
    with start("talker.py") as talker:
        answer = talker.ask(call(1, "fail", text="a secret"))
        assert "a secret" not in str(answer)
        talker.hear("RuntimeError: a secret")


def test_control_characters_from_a_client_do_not_reach_a_terminal_raw() -> None:
    with start("talker.py") as talker:
        talker.ask(call(1, "talk", way="logging", text="\x1b[2Jgone\x07\x9b"))
        assert not {"\x1b", "\x07", "\x9b"} & set(talker.hear("gone"))


def test_debug_logging_keeps_the_wire_clean() -> None:
    with start("talker.py", "debug") as talker:
        talker.send(ping(1), {"jsonrpc": "2.0", "method": "notifications/nonsense"}, ping(2))
        talker.close_input()
        assert talker.read_rest().count(b"\n") == 2


def test_a_child_finds_its_standard_input_empty(talker: Process) -> None:
    talker.send(
        call(1, "ask_child", script="cat >&2; readlink /proc/self/fd/0 >&2", close_fds=True),
        ping("not for you"),
    )
    answers = {answer["id"]: answer for answer in (talker.read(), talker.read())}
    assert answers[1]["result"]["content"][0]["text"] == "/dev/null\n"


@pytest.mark.parametrize("close_fds", [True, False])
def test_no_descriptor_of_the_server_leaks_into_a_child(talker: Process, close_fds: bool) -> None:
    # 0, 1 and 2, and the one with which the shell's child reads the directory.
    assert (
        talker.say(call(1, "ask_child", script="ls /proc/self/fd >&2", close_fds=close_fds)) == "0\n1\n2\n3\n"
    )


def test_terminating_a_forked_worker_ends_the_worker(talker: Process) -> None:
    assert talker.say(call(1, "terminate_worker")) == f"exit code {-signal.SIGTERM}"


@pytest.fixture(scope="module")
def survivors() -> set[str]:
    """Tools that signal somebody, and whether their servers outlive it: at once, because one has to wait and see."""
    with ExitStack() as stack:
        talkers = {
            tool: stack.enter_context(start("talker.py")) for tool in ("terminate_worker", "catch_signal")
        }
        for tool, talker in talkers.items():
            talker.send(call(1, tool))
        gone = wait_for_all(talkers.values(), 2.2)
        return {tool for tool, talker in talkers.items() if talker not in gone}


def test_terminating_a_forked_worker_does_not_end_the_server(survivors: set[str]) -> None:
    assert "terminate_worker" in survivors


def test_a_signal_that_a_tool_catches_does_not_end_the_server(survivors: set[str]) -> None:
    assert "catch_signal" in survivors


def test_a_forked_child_that_outlives_the_server_does_not_hold_the_wire_open() -> None:
    with start("talker.py") as talker:
        child = int(talker.say(call(1, "leave_child")))
        try:
            talker.close_input()
            talker.wait()
            assert talker.read_line(patience=1) == b""
        finally:
            os.kill(child, signal.SIGKILL)
