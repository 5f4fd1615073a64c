"""One server process on two raw pipes. Knows lines and time limits, nothing of what the lines say."""

import os
import select
import time
from collections.abc import Mapping, Sequence

from .child import ANSWER_LIMIT, Child, ServerGoneError

PIPE_SIZE = 65536


class Process(Child):
    """A server on raw pipes: started at once, ended by closing its stdin, then by its pid."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        super().__init__(command, pipes=True, env=env)
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
