"""A client that goes, in whatever way, ends the process: within two seconds, with code 0, without a word.

The waits are long by nature, so every case of a table is started and ended at once, and each test looks at one.
"""

import os
import select
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from time import monotonic
from typing import NamedTuple

import pytest

from .process import (
    PROMISE,
    SLACK,
    Process,
    call,
    command,
    lines,
    notification,
    ping,
    read_message,
    request,
    start,
    text_of,
    wait_for_all,
)

HANGS = [
    "hang",
    "hang_shielded",
    "hang_swallowing",
    "hang_thread",
    "hang_executor",
    "hang_pool",
    "hang_loop",
    "hang_cleanup",
    "hang_lock",
    "hang_query",
    "spin",
]
AT_ONCE = 1.0
"""Seconds in which a process is gone that has nothing to wait for: less than the grace for calls in flight."""


class End(NamedTuple):
    """How a process ended."""

    after: float
    code: int | None
    stderr: str


def end(process: Process, how: str) -> None:
    if how == "EOF":
        process.close_input()
    elif how == "EPIPE":
        # The client no longer reads, and the server has something to say.
        process.close_output()
        process.send(ping("anybody?"))
    else:
        process.kill(signal.Signals[how])


def listen(id: int) -> dict[str, object]:
    return request(id, "subscriptions/listen", notifications={"resourceSubscriptions": ["fixed:///one"]})


def idle(process: Process) -> None:
    process.ask(ping("ready"))


def hanging(tool: str) -> Callable[[Process], None]:
    def prepare(process: Process) -> None:
        process.send(call(1, tool))
        process.hear("hanging")

    return prepare


def listening(process: Process) -> None:
    process.send(listen(1))
    assert process.read()["method"] == "notifications/subscriptions/acknowledged"


def flooded(process: Process) -> None:
    process.send(*(call(number, "hang_thread") for number in range(300)))
    process.hear("hanging")


def unread(process: Process) -> None:
    """The client does not read, and answers fill the pipe."""
    process.ask(ping("ready"))
    process.send_some(lines(call(number, "big", size=10_000) for number in range(2000)), 0.2)


CASES: dict[str, Callable[[Process], None]] = {
    "idle": idle,
    "listening": listening,
    "flooded": flooded,
    "unread": unread,
    **{tool: hanging(tool) for tool in HANGS},
}
# SIGINT takes the way of SIGTERM; a few cases show that.
TABLE = [(case, how) for case in CASES for how in ("EOF", "SIGTERM")]
TABLE[:0] = [(case, "EPIPE") for case in ("idle", "listening", "hang", "hang_shielded", "hang_thread")]
TABLE[:0] = [(case, "SIGINT") for case in ("idle", "listening", "hang", "hang_loop")]


@pytest.fixture(scope="module")
def ends() -> Iterator[dict[tuple[str, str], End]]:
    """Every case, ended in every way, all at the same time."""
    with ExitStack() as stack:
        processes = {key: stack.enter_context(start("worker.py")) for key in TABLE}
        for (case, _), process in processes.items():
            CASES[case](process)
        for (_, how), process in processes.items():
            end(process, how)
        gone = wait_for_all(processes.values(), PROMISE + SLACK)
        yield {key: look(process, gone.get(process)) for key, process in processes.items()}


def look(process: Process, after: float | None) -> End:
    if after is None:
        return End(float("inf"), None, process.complaints())
    return End(after, process.wait(), process.complaints())


@pytest.mark.parametrize(("case", "how"), TABLE)
def test_the_process_is_gone_within_two_seconds(
    ends: dict[tuple[str, str], End], case: str, how: str
) -> None:
    assert ends[case, how].after < PROMISE + SLACK


@pytest.mark.parametrize(("case", "how"), TABLE)
def test_the_exit_code_is_zero(ends: dict[tuple[str, str], End], case: str, how: str) -> None:
    assert ends[case, how].code == 0


@pytest.mark.parametrize(("case", "how"), TABLE)
def test_nothing_is_said_on_the_way_out(ends: dict[tuple[str, str], End], case: str, how: str) -> None:
    assert ends[case, how].stderr.replace("hanging\n", "") == ""


# What is still said.


def test_answers_that_can_be_given_within_the_grace_are_given() -> None:
    with start("worker.py") as worker:
        worker.ask(ping("ready"))
        worker.send(*(call(number, "nap", seconds=0.3) for number in range(20)), call("never", "hang"))
        worker.close_input()
        answers = [read_message(line) for line in worker.read_rest().splitlines()]
        assert sorted(answer["id"] for answer in answers) == list(range(20))


def test_requests_that_wait_in_the_pipe_when_the_input_ends_are_answered() -> None:
    with start("worker.py") as worker:
        worker.send(*(call(number, "echo", text=str(number)) for number in range(2000)))
        worker.close_input()
        answers = [read_message(line) for line in worker.read_rest().splitlines()]
        assert {answer["id"]: text_of(answer) for answer in answers} == {n: str(n) for n in range(2000)}


def test_a_server_whose_input_ends_at_once_leaves_without_waiting() -> None:
    with start("worker.py") as worker:
        worker.ask(ping("ready"))
        worker.close_input()
        assert worker.wait(AT_ONCE) == 0


@pytest.mark.parametrize("how", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_listen_stream_gets_its_result_and_then_a_cancellation_when_a_signal_ends_the_server(
    how: str,
) -> None:
    with start("worker.py") as worker:
        listening(worker)
        worker.kill(signal.Signals[how])
        result, cancelled = [read_message(line) for line in worker.read_rest().splitlines()]
        assert result["id"] == 1
        assert result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
        assert (cancelled["method"], cancelled["params"]) == ("notifications/cancelled", {"requestId": 1})


def test_several_listen_streams_all_end_politely() -> None:
    with start("worker.py") as worker:
        for number in range(10):
            worker.send(listen(number))
            worker.read()
        worker.kill(signal.SIGTERM)
        messages = [read_message(line) for line in worker.read_rest().splitlines()]
        results = [message["id"] for message in messages if "result" in message]
        notices = [message["params"]["requestId"] for message in messages if "method" in message]
        assert (results, notices) == (list(range(10)), list(range(10)))


def test_a_second_signal_does_not_spoil_the_exit() -> None:
    with start("worker.py") as worker:
        hanging("hang")(worker)
        worker.kill(signal.SIGTERM)
        worker.kill(signal.SIGTERM)
        worker.kill(signal.SIGINT)
        assert worker.wait(PROMISE + SLACK) == 0


def test_signals_in_quick_succession_leave_no_traceback() -> None:
    with start("worker.py") as worker:
        worker.ask(ping("ready"))
        while worker.alive:
            worker.kill(signal.SIGINT)
            worker.kill(signal.SIGTERM)
        assert (worker.wait(), worker.complaints()) == (0, "")


def test_a_signal_after_the_end_of_input_does_not_spoil_the_exit() -> None:
    with start("worker.py") as worker:
        hanging("hang")(worker)
        worker.close_input()
        worker.kill(signal.SIGTERM)
        assert worker.wait(PROMISE + SLACK) == 0


def test_a_signal_does_not_wait_for_the_calls_in_flight() -> None:
    with start("worker.py") as worker:
        hanging("hang")(worker)
        worker.kill(signal.SIGTERM)
        assert worker.wait(AT_ONCE) == 0


# A client that is gone without a word.


def test_a_server_whose_client_stops_listening_in_the_middle_of_an_answer_ends() -> None:
    with start("worker.py") as worker:
        worker.send(request(1, "resources/read", uri="big:///5000000"))
        worker.read_some()
        worker.close_output()
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


@pytest.fixture(scope="module")
def orphans() -> dict[str, bool]:
    """Servers whose client was killed while a call hung: whether they are still there after a while."""
    tools = ("hang", "hang_thread", "hang_loop")
    with ExitStack() as stack:
        # A client of its own that starts the server as its child and tells us who it is.
        parents = {
            tool: stack.enter_context(Process(command("parent.py", *command("worker.py")))) for tool in tools
        }
        pids = {tool: int(parent.read_line()) for tool, parent in parents.items()}
        pidfds = {tool: os.pidfd_open(pid) for tool, pid in pids.items()}
        for tool, parent in parents.items():
            hanging(tool)(parent)
        for parent in parents.values():
            parent.kill(signal.SIGKILL)
        until = monotonic() + PROMISE + SLACK
        left = {tool: not gone(pidfd, until - monotonic()) for tool, pidfd in pidfds.items()}
        for tool, alive in left.items():
            if alive:
                os.kill(pids[tool], signal.SIGKILL)
            os.close(pidfds[tool])
        return left


@pytest.mark.parametrize("tool", ["hang", "hang_thread", "hang_loop"])
def test_no_orphan_is_left_when_the_client_is_killed(orphans: dict[str, bool], tool: str) -> None:
    assert not orphans[tool]


def gone(pidfd: int, patience: float) -> bool:
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    return bool(poll.poll(max(0.0, patience) * 1000))


def test_nobody_reading_standard_error_does_not_keep_the_process_alive() -> None:
    with start("talker.py") as talker:
        talker.ask(ping("ready"))
        # More than the pipe of standard error holds: whoever writes there blocks.
        talker.send(call(1, "talk", way="os.write", text="x" * 2_000_000))
        talker.hear("xxxx")
        talker.close_input()
        assert talker.wait(PROMISE + SLACK) == 0


def test_a_closed_standard_error_does_not_spoil_the_exit_code() -> None:
    with start("talker.py") as talker:
        talker.ask(ping("ready"))
        talker.close_complaints()
        talker.ask(call(1, "talk", way="print", text="into the void"))
        talker.ask(call(2, "talk", way="logging", text="into the void"))
        talker.close_input()
        assert talker.wait() == 0


def test_the_wire_is_closed_when_the_process_is_gone() -> None:
    with start("worker.py") as worker:
        hanging("hang_thread")(worker)
        worker.close_input()
        assert worker.read_rest() == b""


def test_a_cancelled_call_that_hangs_in_its_thread_does_not_keep_the_process_alive() -> None:
    with start("worker.py") as worker:
        hanging("hang_thread")(worker)
        worker.send(notification("cancelled", requestId=1))
        worker.ask(ping(2))
        worker.close_input()
        assert worker.wait(AT_ONCE) == 0
