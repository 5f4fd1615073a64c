"""A real server process, driven over its real descriptors. Every wait has an end, and nothing sleeps.

What is waited for is always a descriptor: the wire, standard error, or the process itself (a pidfd).
"""

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

SERVERS = Path(__file__).parent / "servers"
DEADLINE = 15.0
"""Seconds after which a test gives up on anything that should come at once."""
PROMISE = 2.0
"""Seconds in which a process has to be gone."""
SLACK = 0.5
"""Seconds that a loaded machine may add to the promise."""
CHUNK = 1024 * 1024
HANDSHAKE = "2025-11-25"
_TALKATIVE = {
    "PYTHONUNBUFFERED",
    "PYTHONIOENCODING",
    "PYTHONUTF8",
    "PYTHONWARNINGS",
    "PYTHONDEVMODE",
    "PYTHONASYNCIODEBUG",
}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def command(script: str, *args: str) -> list[str]:
    """How to start one of the fixture servers."""
    return [sys.executable, str(SERVERS / script), *args]


def environment(changes: Mapping[str, str]) -> dict[str, str]:
    """The environment of this process with changes, and without what would make Python talk differently."""
    return {**{name: value for name, value in os.environ.items() if name not in _TALKATIVE}, **changes}


class Process:
    """A process and our ends of its standard descriptors. Whatever happens, leaving it kills it."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        cwd: Path | None = None,
    ) -> None:
        """Without a descriptor of the caller's, a pipe is made; the caller's own stay the caller's."""
        given = [stdin, stdout, stderr]
        theirs: list[int] = []
        self._ours: list[int | None] = [None, None, None]
        for number, fd in enumerate(given):
            if fd is None:
                read, write = os.pipe()
                self._ours[number], fd = (write, read) if number == 0 else (read, write)
                theirs.append(fd)
                given[number] = fd
        self._popen = subprocess.Popen(
            argv, stdin=given[0], stdout=given[1], stderr=given[2], env=environment(env or {}), cwd=cwd
        )
        for fd in theirs:
            os.close(fd)
        self.pid = self._popen.pid
        self._pidfd = os.pidfd_open(self.pid)
        self._heard = bytearray()
        self._complaints = bytearray()
        self._ended_at: float | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._popen.kill()
        self._popen.wait()
        os.close(self._pidfd)
        for number in range(3):
            self._close(number)

    # What goes in.

    def send(self, *messages: Mapping[str, Any]) -> None:
        """Write messages, one per line, in one write."""
        self.send_bytes(lines(messages))

    def send_bytes(self, data: bytes) -> None:
        """Write bytes as they are; they must be taken before the deadline."""
        if self.send_some(data, DEADLINE) != len(data):
            raise TimeoutError("the server does not take what it is sent")

    def send_some(self, data: bytes, patience: float) -> int:
        """Write until the server has not taken anything for that long; how much it took."""
        fd = self._fd(0)
        os.set_blocking(fd, False)
        rest = memoryview(data)
        while rest and _ready(fd, select.POLLOUT, patience):
            rest = rest[os.write(fd, rest[:CHUNK]) :]
        return len(data) - len(rest)

    def close_input(self) -> None:
        """The client has nothing more to say."""
        self._close(0)

    # What comes out.

    def read_line(self, patience: float = DEADLINE) -> bytes:
        """The next line on the wire, with its newline; empty at the end of the stream."""
        end = monotonic() + patience
        searched = 0
        while (at := self._heard.find(b"\n", searched)) < 0:
            searched = len(self._heard)
            chunk = self._read(1, end)
            if not chunk:
                at = len(self._heard) - 1
                break
            self._heard += chunk
        line = bytes(self._heard[: at + 1])
        del self._heard[: at + 1]
        return line

    def read(self, patience: float = DEADLINE) -> dict[str, Any]:
        """The next message on the wire."""
        line = self.read_line(patience)
        assert line.endswith(b"\n"), (
            f"the stream ended with {line[:200]!r}; stderr: {self.complaints()[-2000:]}"
        )
        return read_message(line)

    def ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request; the next message is its answer."""
        self.send(message)
        answer = self.read()
        assert answer.get("id") == message["id"], answer
        return answer

    def say(self, message: Mapping[str, Any]) -> str:
        """Send a tool call; the text of its answer."""
        return text_of(self.ask(message))

    def read_some(self, size: int = CHUNK) -> bytes:
        """The next bytes on the wire, at most so many."""
        return self._read(1, monotonic() + DEADLINE, size)

    def unread(self, data: bytes) -> None:
        """Put bytes back, to be read again."""
        self._heard[:0] = data

    def read_rest(self) -> bytes:
        """Everything that still comes on the wire, until its end."""
        end = monotonic() + DEADLINE
        while chunk := self._read(1, end):
            self._heard += chunk
        rest = bytes(self._heard)
        self._heard.clear()
        return rest

    def hear(self, wanted: str, times: int = 1) -> str:
        """Wait until a text stands on standard error, that often in all; all of it so far."""
        end = monotonic() + DEADLINE
        while self._complaints.count(wanted.encode()) < times:
            chunk = self._read(2, end)
            assert chunk, f"standard error ended without {wanted!r}: {self.complaints()}"
            self._complaints += chunk
        return self._complaints.decode()

    def complaints(self) -> str:
        """What stands on standard error by now."""
        fd = self._ours[2]
        while fd is not None and _ready(fd, select.POLLIN, 0):
            chunk = os.read(fd, CHUNK)
            if not chunk:
                break
            self._complaints += chunk
        return self._complaints.decode()

    def close_output(self) -> None:
        """The client stops listening for good."""
        self._close(1)

    def close_complaints(self) -> None:
        """Nobody reads standard error any more."""
        self._close(2)

    # How it ends.

    def kill(self, number: signal.Signals) -> None:
        """Send a signal to this process alone."""
        self._popen.send_signal(number)

    def wait(self, patience: float = DEADLINE) -> int:
        """Its exit code, once it is gone."""
        if not _ready(self._pidfd, select.POLLIN, patience):
            raise TimeoutError(f"still alive after {patience} s; stderr: {self.complaints()[-2000:]}")
        return self._popen.wait()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return not _ready(self._pidfd, select.POLLIN, 0)

    @property
    def pidfd(self) -> int:
        """A descriptor that is readable once the process is gone."""
        return self._pidfd

    def memory(self, field: str) -> int:
        """A figure of /proc/PID/status (VmHWM: the most so far, VmRSS: now), in MiB."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) // 1024
        raise AssertionError(f"no {field} in the status of {self.pid}")

    def _fd(self, number: int) -> int:
        fd = self._ours[number]
        assert fd is not None, f"our end of descriptor {number} is closed, or was never ours"
        return fd

    def _read(self, number: int, end: float, size: int = CHUNK) -> bytes:
        fd = self._fd(number)
        if not _ready(fd, select.POLLIN, end - monotonic()):
            name = ("stdin", "stdout", "stderr")[number]
            raise TimeoutError(f"nothing on {name}; on stderr: {self.complaints()[-2000:]}")
        try:
            return os.read(fd, size)
        except OSError:  # a terminal whose other end is gone
            return b""

    def _close(self, number: int) -> None:
        fd, self._ours[number] = self._ours[number], None
        if fd is not None:
            os.close(fd)


def _ready(fd: int, event: int, patience: float) -> bool:
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(max(0.0, patience) * 1000))


_spare: dict[str, Process] = {}


def start(script: str, *args: str, **env: str) -> Process:
    """Start one of the fixture servers over three pipes.

    The next one of its kind is started along with it: it gets ready on another core while a test runs.
    """
    if args or env:
        return Process(command(script, *args), env=env)
    process = _spare.pop(script, None) or Process(command(script))
    _spare[script] = Process(command(script))
    return process


def end_spares() -> None:
    """End the servers that were started and not needed."""
    while _spare:
        with _spare.popitem()[1]:
            pass


def wait_for_all(processes: Iterable[Process], patience: float) -> dict[Process, float]:
    """Wait until all are gone or the time is over; after how many seconds each of them went."""
    began = monotonic()
    poll = select.poll()
    waiting = {process.pidfd: process for process in processes}
    for fd in waiting:
        poll.register(fd, select.POLLIN)
    gone: dict[Process, float] = {}
    while waiting and (left := began + patience - monotonic()) > 0:
        for fd, _ in poll.poll(left * 1000):
            poll.unregister(fd)
            gone[waiting.pop(fd)] = monotonic() - began
    return gone


# Messages.


def lines(messages: Iterable[Mapping[str, Any]]) -> bytes:
    """Messages as they go over the wire."""
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def read_message(line: bytes) -> dict[str, Any]:
    """A line of the wire as a message; anything else fails the test."""
    message = json.loads(line.decode("utf-8"))
    assert isinstance(message, dict)
    assert message["jsonrpc"] == "2.0"
    return message


def ping(id: int | str) -> dict[str, Any]:
    """The smallest request there is; it needs neither handshake nor envelope."""
    return {"jsonrpc": "2.0", "id": id, "method": "ping"}


def request(id: int | str, method: str, **params: Any) -> dict[str, Any]:
    """A request of the stateless revision."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": {**params, "_meta": META}}


def call(id: int | str, tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool call of the stateless revision."""
    return request(id, "tools/call", name=tool, arguments=arguments)


def initialize(id: int | str, revision: str = HANDSHAKE, **capabilities: Any) -> dict[str, Any]:
    """The first request of a handshake."""
    params = {
        "protocolVersion": revision,
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    }
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": params}


def notification(method: str, **params: Any) -> dict[str, Any]:
    """A notification."""
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


def text_of(answer: Mapping[str, Any]) -> str:
    """The text of a tool's result."""
    assert "result" in answer, answer
    assert not answer["result"].get("isError"), answer
    return answer["result"]["content"][0]["text"]
