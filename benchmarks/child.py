"""One server process: its clock, its memory, its cores and its end. Knows nothing of how it is spoken to."""

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

ANSWER_LIMIT = 60.0  # seconds; a cold FastMCP on a busy machine takes five
EXIT_LIMIT = 5.0


class ServerGoneError(Exception):
    """The process ended, or fell silent, before it had answered."""


class Child:
    """A process of ours: started at once, ended by its pid."""

    def __init__(self, command: Sequence[str], *, pipes: bool, env: Mapping[str, str] | None = None) -> None:
        # A file never fills up, so it never blocks the server; close() closes it.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
            stdout=subprocess.PIPE if pipes else subprocess.DEVNULL,
            stderr=self._stderr,
            bufsize=0,
            env={**environment(), **(env or {})},
            process_group=0,  # Ctrl-C reaches the benchmark, which then ends its servers itself
        )
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
        """Memory it holds now."""
        return self._mib("VmRSS")

    def peak_mib(self) -> float:
        """The most memory it ever held."""
        return self._mib("VmHWM")

    def _mib(self, what: str) -> float:
        status = Path(f"/proc/{self._child.pid}/status").read_text()
        found = re.search(rf"{what}:\s+(\d+) kB", status)
        if found is None:
            raise ServerGoneError("ended before its memory was read")
        return int(found[1]) / 1024

    def pin(self, cores: set[int]) -> None:
        """Keep the process on these cores: each thread it has by now, whose children inherit it."""
        for thread in Path(f"/proc/{self._child.pid}/task").iterdir():
            with suppress(ProcessLookupError):  # it ended meanwhile
                os.sched_setaffinity(int(thread.name), cores)

    def send(self, number: int) -> None:
        """Send a signal."""
        self._child.send_signal(number)

    def close(self) -> int:
        """End the process: SIGTERM, then SIGKILL; return its exit code."""
        self._child.terminate()
        try:
            return self._end()
        finally:
            self._stderr.close()

    def _end(self) -> int:
        for insist in (self._child.terminate, self._child.kill):
            try:
                return self._child.wait(EXIT_LIMIT)
            except subprocess.TimeoutExpired:
                insist()
        return self._child.wait(EXIT_LIMIT)

    def _said(self) -> str:
        """What stands on stderr by now; read where it is, because the process writes at the same place."""
        size = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), size, 0).decode(errors="replace")

    def _last_words(self) -> str:
        """The last line on stderr of a process that has stopped answering."""
        try:
            code = self._child.wait(EXIT_LIMIT)
        except subprocess.TimeoutExpired:
            return "stopped answering and went on running"
        spoken = [line.strip() for line in self._said().split("\n") if line.strip()]
        return spoken[-1] if spoken else f"ended with exit code {code} and said nothing"


def environment() -> dict[str, str]:
    """Ours, without what would change how an interpreter starts."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NODE_"))}
