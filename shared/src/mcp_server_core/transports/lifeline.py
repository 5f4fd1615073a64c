"""Makes sure that a process ends when its client is gone, also when a handler blocks the event loop.

A thread waits for the hang-up of standard input and for signals. It asks the event loop to react; a loop that
does not, or takes too long to wind down, is ended from here.
"""

import os
import select
import signal
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import anyio

PATIENCE = 1.8  # seconds; the promise is two
STALLED = 0.8
_SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")


class Lifeline:
    """Watches over one process that serves one client."""

    def __init__(self, wire: tuple[int, int], end: Callable[[], None]) -> None:
        self._wire = wire
        self._end = end
        self.moved: Callable[[], int] = lambda: 0
        """How much was read and written so far, to tell slow from stuck."""
        self._loop_read, self._loop_write = os.pipe()
        self._thread_read, self._thread_write = os.pipe()
        for fd in (self._loop_read, self._loop_write, self._thread_write):
            os.set_blocking(fd, False)
        self._noticed = threading.Event()
        self._stopping = False

    def start(self) -> None:
        """Begin to watch. Call from the main thread."""
        for name in _SIGNALS:
            signal.signal(getattr(signal, name), self._on_signal)
        # Written to by the interpreter itself, also while C code keeps `_on_signal` from running.
        signal.set_wakeup_fd(self._thread_write, warn_on_full_buffer=False)
        os.register_at_fork(after_in_child=self._let_go)
        threading.Thread(target=self._watch, name="lifeline", daemon=True).start()

    async def wait_for_signal(self) -> None:
        """Return when a signal asks the process to end; meanwhile answer the watching thread."""
        while True:
            await anyio.wait_readable(self._loop_read)
            os.read(self._loop_read, 64)
            self._noticed.set()
            if self._stopping:
                return

    def expect_end(self) -> None:
        """The process is ending now: make sure that it does. May be called from any thread, and twice."""
        _poke(self._thread_write)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        # Runs between two bytecodes of the main thread, also while a handler blocks the loop.
        self._stopping = True
        _poke(self._loop_write)

    def _watch(self) -> None:
        if not self._hung_up_before_end():
            self._end_after_patience()
            return
        # The loop may be healthy and still have requests to read: then it sees the end by itself.
        _poke(self._loop_write)
        if self._noticed.wait(PATIENCE) and self._end_is_seen():
            self._end_after_patience()
        else:
            self._end()

    def _end_is_seen(self) -> bool:
        """Wait until the loop has read to the end; False if it got stuck, because nobody reads its answers."""
        poll = select.poll()
        poll.register(self._thread_read, select.POLLIN)
        before = -1
        while self.moved() != before:
            before = self.moved()
            if poll.poll(STALLED * 1000) and self._told_to_end():
                return True
        return False

    def _let_go(self) -> None:
        """In a forked child: its signals are its own, and it holds no end of the wire."""
        signal.set_wakeup_fd(-1)
        for name in _SIGNALS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        for fd in (*self._wire, self._loop_read, self._loop_write, self._thread_read, self._thread_write):
            with suppress(OSError):
                os.close(fd)

    def _hung_up_before_end(self) -> bool:
        """Wait until the client hangs up (True) or the process begins to end (False)."""
        poll = select.poll()
        poll.register(self._thread_read, select.POLLIN)
        # Only a hang-up is waited for, not data; a socket that is half closed says so in a way of its own.
        poll.register(self._wire[0], getattr(select, "POLLRDHUP", 0))
        # A file does not hang up; it is looked at now and then.
        is_file = stat.S_ISREG(os.fstat(self._wire[0]).st_mode)
        while True:
            ready = [fd for fd, _ in poll.poll(STALLED * 1000 if is_file else None)]
            if self._thread_read in ready:
                if self._told_to_end():
                    return False
            elif not is_file or self._is_read_to_its_end():
                return True

    def _is_read_to_its_end(self) -> bool:
        fd = self._wire[0]
        return os.lseek(fd, 0, os.SEEK_CUR) >= os.fstat(fd).st_size

    def _told_to_end(self) -> bool:
        """Read what was written to the thread: our own word, or the number of a signal that came in."""
        said = os.read(self._thread_read, 64)
        if any(self._is_ours(number) for number in said):
            # Python runs `_on_signal` when the main thread gets around to it; the loop is told now.
            self._stopping = True
            _poke(self._loop_write)
            return True
        return 0 in said

    def _is_ours(self, number: int) -> bool:
        return number in signal.valid_signals() and signal.getsignal(number) == self._on_signal

    def _end_after_patience(self) -> None:
        threading.Event().wait(PATIENCE)
        self._end()


def _poke(fd: int) -> None:
    with suppress(BlockingIOError):  # full: it was poked before
        os.write(fd, b"\0")
