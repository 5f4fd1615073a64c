"""Whatever the standard descriptors are: pipes, sockets, files, a terminal, or nothing at all."""

import json
import os
import pty
import select
import signal
import socket
import sys
import termios
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from .process import (
    DEADLINE,
    PROMISE,
    SERVERS,
    SLACK,
    Process,
    call,
    command,
    lines,
    ping,
    read_message,
    text_of,
    wait_for_all,
)

# A file, and what is no file.


def test_requests_from_a_file_are_answered(tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    requests.write_bytes(lines(call(number, "echo", text=str(number)) for number in range(50)))
    with requests.open() as file, Process(command("worker.py"), stdin=file.fileno()) as worker:
        answers = [read_message(line) for line in worker.read_rest().splitlines()]
        assert {answer["id"]: text_of(answer) for answer in answers} == {n: str(n) for n in range(50)}


def test_a_server_that_reads_a_file_ends_after_it(tmp_path: Path) -> None:
    requests = tmp_path / "requests"
    requests.write_bytes(lines([ping(1)]))
    with requests.open() as file, Process(command("worker.py"), stdin=file.fileno()) as worker:
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_answers_go_into_a_file(tmp_path: Path) -> None:
    said = tmp_path / "answers"
    with said.open("wb") as file, Process(command("worker.py"), stdout=file.fileno()) as worker:
        worker.send(ping(1), ping(2))
        worker.close_input()
        assert worker.wait() == 0
    assert [read_message(line)["id"] for line in said.read_bytes().splitlines()] == [1, 2]


def test_an_empty_device_as_input_ends_the_server_at_once() -> None:
    with Path(os.devnull).open() as nothing, Process(command("worker.py"), stdin=nothing.fileno()) as worker:
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_an_output_that_is_full_ends_the_server() -> None:
    with Path("/dev/full").open("wb") as full, Process(command("worker.py"), stdout=full.fileno()) as worker:
        worker.send(ping(1))
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_output_and_standard_error_may_be_the_same_pipe() -> None:
    ours, theirs = os.pipe()
    with Process(command("worker.py"), stdout=theirs, stderr=theirs) as worker:
        os.close(theirs)
        worker.send(call(1, "big", size=90_000))
        worker.close_input()
        with os.fdopen(ours, "rb") as said:
            assert read_message(said.readline())["id"] == 1
        assert worker.wait() == 0


# Sockets, as Node makes them.


@contextmanager
def over_sockets() -> Generator[tuple[Process, socket.socket, socket.socket]]:
    our_in, their_in = socket.socketpair()
    our_out, their_out = socket.socketpair()
    with our_in, our_out:
        our_out.settimeout(DEADLINE)
        with (
            their_in,
            their_out,
            Process(command("worker.py"), stdin=their_in.fileno(), stdout=their_out.fileno()) as worker,
        ):
            their_in.close()
            their_out.close()
            yield worker, our_in, our_out


def test_a_server_speaks_over_sockets() -> None:
    with over_sockets() as (_, stdin, stdout):
        stdin.sendall(lines([call(1, "echo", text="over a socket")]))
        assert text_of(read_message(stdout.makefile("rb").readline())) == "over a socket"


def test_a_large_answer_goes_over_a_socket() -> None:
    with over_sockets() as (_, stdin, stdout):
        stdin.sendall(lines(call(number, "big", size=90_000) for number in range(50)))
        said = stdout.makefile("rb")
        assert {len(text_of(read_message(said.readline()))) for _ in range(50)} == {90_000}


@pytest.mark.parametrize("how", ["close", "shutdown"])
def test_the_end_of_a_socket_ends_the_server(how: str) -> None:
    with over_sockets() as (worker, stdin, stdout):
        stdin.sendall(lines([ping(1)]))
        stdout.makefile("rb").readline()
        if how == "close":
            stdin.close()
        else:
            stdin.shutdown(socket.SHUT_WR)
        assert worker.wait(PROMISE + SLACK) == 0


def test_one_socket_may_be_input_and_output() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, Process(command("worker.py"), stdin=theirs.fileno(), stdout=theirs.fileno()) as worker:
        theirs.close()
        ours.settimeout(DEADLINE)
        said = ours.makefile("rb")
        for number in range(100):
            ours.sendall(lines([ping(number)]))
            assert read_message(said.readline())["id"] == number
        ours.shutdown(socket.SHUT_WR)
        assert worker.wait(PROMISE + SLACK) == 0


def test_an_input_that_does_not_block_is_waited_for() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        with Process(command("worker.py"), stdin=theirs.fileno()) as worker:
            theirs.close()
            ours.sendall(lines([ping(1)]))
            assert worker.read()["id"] == 1
            ours.sendall(lines([ping(2)]))
            assert worker.read()["id"] == 2


# What cannot hang up like a pipe, and a call that hangs: all at once, because it takes its time.

HANGS = ("hang", "hang_thread", "hang_loop")
INPUTS = ("file", "closed socket", "shut down socket")


@pytest.fixture(scope="module")
def hanging(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], float]:
    """After how long servers were gone whose input ended while a call hung."""
    folder = tmp_path_factory.mktemp("requests")
    ends: list[Callable[[], None]] = []
    with ExitStack() as stack:
        workers: dict[tuple[str, str], Process] = {}
        for tool in HANGS:
            requests = folder / tool
            requests.write_bytes(lines([call(1, tool)]))
            stdin = stack.enter_context(requests.open()).fileno()
            workers["file", tool] = stack.enter_context(Process(command("worker.py"), stdin=stdin))
            for how in INPUTS[1:]:
                worker, ours, _ = stack.enter_context(over_sockets())
                ours.sendall(lines([call(1, tool)]))
                ends.append(ours.close if how == "closed socket" else partial(ours.shutdown, socket.SHUT_WR))
                workers[how, tool] = worker
        for worker in workers.values():
            worker.hear("hanging")
        for end in ends:
            end()
        gone = wait_for_all(workers.values(), PROMISE + SLACK)
        return {key: gone.get(worker, float("inf")) for key, worker in workers.items()}


@pytest.mark.parametrize("tool", HANGS)
@pytest.mark.parametrize("input", INPUTS)
def test_the_end_of_the_input_ends_the_server_though_a_call_hangs(
    hanging: dict[tuple[str, str], float], input: str, tool: str
) -> None:
    assert hanging[input, tool] < PROMISE + SLACK


# A terminal.


@contextmanager
def in_terminal(argv: list[str], *, cwd: Path | None = None) -> Generator[tuple[Process, int]]:
    """A server somebody started by hand: all three descriptors are the terminal."""
    ours, theirs = pty.openpty()
    try:
        settings = termios.tcgetattr(theirs)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, settings)
        with Process(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd) as process:
            os.close(theirs)
            theirs = -1
            yield process, ours
    finally:
        os.close(ours)
        if theirs >= 0:
            os.close(theirs)


def read_terminal(terminal: int, until: str) -> str:
    """What stands on the screen, up to and including a text."""
    screen = b""
    poll = select.poll()
    poll.register(terminal, select.POLLIN)
    while until.encode() not in screen:
        assert poll.poll(DEADLINE * 1000), screen.decode()
        screen += os.read(terminal, 4096)
    return screen.decode().replace("\r\n", "\n")


def shown_entry(terminal: int) -> dict[str, Any]:
    """The entry for a host's configuration that the server shows."""
    screen = read_terminal(terminal, "stop.")
    return json.loads(screen[screen.index("{") : screen.rindex("}") + 1])


def test_a_server_started_by_hand_says_who_it_is() -> None:
    with in_terminal(command("worker.py")) as (_, terminal):
        assert "worker 1.0" in read_terminal(terminal, "stop.")


def test_a_server_started_by_hand_says_what_it_waits_for() -> None:
    with in_terminal(command("worker.py")) as (_, terminal):
        assert "waiting for a client" in read_terminal(terminal, "stop.")


def test_a_server_started_by_hand_shows_an_entry_for_its_name() -> None:
    with in_terminal(command("worker.py")) as (_, terminal):
        assert list(shown_entry(terminal)["mcpServers"]) == ["worker"]


STARTS = {
    "absolute path": [sys.executable, str(SERVERS / "worker.py"), "2000"],
    "relative path": [sys.executable, "worker.py", "2000"],
    "module": [sys.executable, "-m", "worker", "2000"],
    "options of Python": [sys.executable, "-X", "utf8", "-W", "ignore", "worker.py", "2000"],
}


@pytest.mark.parametrize("how", STARTS)
def test_the_entry_shown_starts_this_server_with_these_arguments(tmp_path: Path, how: str) -> None:
    with in_terminal(STARTS[how], cwd=SERVERS) as (_, terminal):
        entry = shown_entry(terminal)["mcpServers"]["worker"]
    # A host starts servers from wherever it is; only a module is looked for there.
    folder = SERVERS if how == "module" else tmp_path
    with Process([entry["command"], *entry["args"]], cwd=folder) as pasted:
        pasted.send(call(1, "echo", text="x" * 2000))
        assert "2000" in pasted.read()["error"]["message"]


def test_the_entry_of_an_installed_command_names_it_absolutely(tmp_path: Path) -> None:
    installed = tmp_path / "mcp-server-worker"
    script = (SERVERS / "worker.py").read_text()
    installed.write_text(f"#!{sys.executable}\n{script}")
    installed.chmod(0o755)
    with in_terminal([str(installed)], cwd=tmp_path) as (_, terminal):
        entry = shown_entry(terminal)["mcpServers"]["worker"]
    assert str(installed) in [entry["command"], *entry["args"]]


def test_a_message_typed_into_a_terminal_is_answered() -> None:
    with in_terminal(command("worker.py")) as (_, terminal):
        read_terminal(terminal, "stop.")
        os.write(terminal, lines([call(1, "echo", text="typed")]))
        assert '"typed"' in read_terminal(terminal, "}\r\n")


def test_ctrl_d_ends_a_server_started_by_hand() -> None:
    with in_terminal(command("worker.py")) as (process, terminal):
        read_terminal(terminal, "stop.")
        os.write(terminal, b"\x04")
        assert process.wait(PROMISE + SLACK) == 0


def test_a_terminal_that_is_closed_ends_the_server() -> None:
    ours, theirs = pty.openpty()
    with Process(command("worker.py"), stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        read_terminal(ours, "stop.")
        os.close(ours)
        assert process.wait(PROMISE + SLACK) == 0


def test_a_server_started_by_a_host_says_nothing_on_standard_error() -> None:
    with Process(command("worker.py")) as worker:
        worker.ask(ping(1))
        worker.close_input()
        worker.wait()
        assert worker.complaints() == ""


# Descriptors that are not there.


def without(closed: str, script: str = "worker.py") -> list[str]:
    """The command, started with some descriptors closed."""
    return ["/bin/sh", "-c", f'exec "$@" {closed}', "sh", *command(script)]


@pytest.mark.parametrize("closed", ["<&-", "<&- >&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_a_server_without_an_input_ends_at_once(closed: str) -> None:
    with Process(without(closed)) as worker:
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_a_server_without_an_input_writes_nothing_on_the_wire() -> None:
    with Process(without("<&-")) as worker:
        assert worker.read_rest() == b""


def test_a_server_without_standard_error_answers() -> None:
    with Process(without("2>&-")) as worker:
        assert worker.ask(ping(1)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_a_server_without_standard_error_ends_with_its_input() -> None:
    with Process(without("2>&-")) as worker:
        worker.ask(ping(1))
        worker.close_input()
        assert worker.wait(PROMISE + SLACK) == 0


@pytest.mark.parametrize("way", ["print", "os.write", "child", "puts", "logging", "warnings"])
def test_a_server_without_standard_error_keeps_the_wire_clean(way: str) -> None:
    with Process(without("2>&-", "talker.py")) as talker:
        assert talker.say(call(1, "talk", way=way, text="stray")) == "said"
        talker.close_input()
        assert talker.read_rest() == b""


def test_a_failing_tool_without_standard_error_is_answered() -> None:
    with Process(without("2>&-", "talker.py")) as talker:
        assert talker.ask(call(1, "fail", text=""))["result"]["isError"] is True


@pytest.mark.parametrize(
    "said", [b"", lines([ping(1), call(2, "echo", text="")])], ids=["silent", "spoken to"]
)
def test_a_server_without_an_output_ends_with_its_input(said: bytes) -> None:
    with Process(without(">&-")) as worker:
        worker.send_bytes(said)
        worker.close_input()
        assert (worker.wait(PROMISE + SLACK), worker.complaints()) == (0, "")


def test_a_server_started_with_signals_blocked_still_ends_with_its_input() -> None:
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    try:
        worker = Process(command("worker.py"))
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    with worker:
        worker.ask(ping(1))
        worker.close_input()
        assert worker.wait(PROMISE + SLACK) == 0
