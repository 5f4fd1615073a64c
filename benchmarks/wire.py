"""One server process on two raw pipes. Knows lines and time limits, nothing of what the lines say."""

import os
import re
import select
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

ANSWER_LIMIT = 60.0  # seconds; a cold FastMCP on a busy machine takes five
EXIT_LIMIT = 5.0
PIPE_SIZE = 65536


class ServerGoneError(Exception):
    """The process ended, or fell silent, before it had answered."""


class Process:
    """A server on raw pipes: started at once, ended by closing its stdin, then by its pid."""

    def __init__(self, command: Sequence[str]) -> None:
        # A file never fills up, so it never blocks the server; close() closes it.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            env=_environment(),
            process_group=0,  # Ctrl-C reaches the benchmark, which then ends its servers itself
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._stdin = self._child.stdin.fileno()
        self._stdout = self._child.stdout.fileno()
        # Our two ends only: the server's ends are other descriptions and stay blocking.
        os.set_blocking(self._stdin, False)
        os.set_blocking(self._stdout, False)
        self._readable = select.poll()
        self._readable.register(self._stdout, select.POLLIN)
        self._either = select.poll()
        self._either.register(self._stdout, select.POLLIN)
        self._either.register(self._stdin, select.POLLOUT)
        self._partial = bytearray()
        # The clock of another process, as clock_getcpuclockid(3) makes it: nanoseconds over all its threads,
        # ended ones too, which /proc/PID/schedstat leaves out.
        self._clock = (~self._child.pid << 3) | 2

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def cpu_seconds(self) -> float:
        """User and system time of the process so far."""
        return time.clock_gettime(self._clock)

    def resident_mib(self) -> float:
        status = Path(f"/proc/{self._child.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        if found is None:
            raise ServerGoneError("ended before its memory was read")
        return int(found[1]) / 1024

    def pin(self, cores: set[int]) -> None:
        """Keep the process on these cores: each thread it has by now, whose children inherit it."""
        for thread in Path(f"/proc/{self._child.pid}/task").iterdir():
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.sched_setaffinity(int(thread.name), cores)

    def converse(
        self, requests: Sequence[bytes], *, window: int = 1, seconds: float = ANSWER_LIMIT
    ) -> list[bytes]:
        """Send the requests, at most `window` of them unanswered; return the answers as they came."""
        deadline = time.monotonic() + seconds
        answers: list[bytes] = []
        sent = 0
        unsent = memoryview(b"")
        while len(answers) < len(requests):
            batch = requests[sent : len(answers) + window]
            if batch:
                sent += len(batch)
                unsent = memoryview(b"".join([unsent, *batch]))
            if unsent:
                unsent = unsent[self._write(unsent) :]
            self._wait(self._either if unsent else self._readable, deadline)
            answers += self._read()
        return answers

    def tell(self, notification: bytes) -> None:
        """Send a line that has no answer; it must fit into the pipe."""
        self._write(memoryview(notification))

    def close(self) -> int:
        """End the process: end of file, then SIGTERM, then SIGKILL; return its exit code."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.close()
        try:
            return self._end()
        finally:
            self._child.stdout.close()
            self._stderr.close()

    def _end(self) -> int:
        for insist in (self._child.terminate, self._child.kill):
            try:
                return self._child.wait(EXIT_LIMIT)
            except subprocess.TimeoutExpired:
                insist()
        return self._child.wait(EXIT_LIMIT)

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._stdin, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise ServerGoneError(self._last_words()) from None

    def _wait(self, poll: select.poll, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not poll.poll(remaining * 1000):
            raise ServerGoneError("no answer in time")

    def _read(self) -> list[bytes]:
        """The answers that are complete by now: whole lines with an id, so no notifications."""
        try:
            chunk = os.read(self._stdout, PIPE_SIZE)
        except BlockingIOError:
            return []
        if not chunk:
            raise ServerGoneError(self._last_words())
        self._partial += chunk
        if b"\n" not in chunk:
            return []
        *lines, rest = bytes(self._partial).split(b"\n")
        self._partial = bytearray(rest)
        return [line for line in lines if b'"id"' in line]

    def _last_words(self) -> str:
        """The last line on stderr of a process that has closed its pipe."""
        try:
            code = self._child.wait(EXIT_LIMIT)
        except subprocess.TimeoutExpired:
            return "closed its output and went on running"
        self._stderr.seek(0)
        lines = self._stderr.read().decode(errors="replace").split("\n")
        spoken = [line.strip() for line in lines if line.strip()]
        return spoken[-1] if spoken else f"ended with exit code {code} and said nothing"


def _environment() -> dict[str, str]:
    """Ours, without what would change how an interpreter starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NODE_"))}
