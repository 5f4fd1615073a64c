"""Several processes behind one port, for stateless clients: any of them can answer any request.

The parent binds the port, starts the workers, replaces one that dies, and passes the signal to stop on to all.
"""

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NoReturn

from .serving import leave

log = logging.getLogger("mcp_server_core")
Work = Callable[[Callable[[], None]], NoReturn]
TOO_SOON = 1.0  # seconds: a worker that dies sooner would die again


def run_workers(number: int, work: Work, ready: Callable[[], None], close: Callable[[], None]) -> NoReturn:
    """Run `work` in this many processes until a signal comes.

    `ready` is called when all of them serve, `close` when no new one will be started.
    """
    if sys.platform == "win32":
        raise SystemExit("--workers needs a system that can fork; run several servers instead")
    parent = _Parent(work, close)
    for number_of_signal in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number_of_signal, parent.stop)
    for _ in range(number):
        parent.start()
    parent.wait_until_ready(number)
    ready()
    parent.watch()
    leave(parent.code)


class _Parent:
    """Knows its workers by their process ids."""

    def __init__(self, work: Work, close: Callable[[], None]) -> None:
        self._work = work
        self._close = close
        self._life_read, self._life_write = (
            os.pipe()
        )  # only the parent writes: its end is seen as the end of the pipe
        self._started: dict[int, float] = {}
        self._stopping = False
        self._ready_read, self._ready_write = os.pipe()
        self.code = 0

    def start(self) -> None:
        """Fork one worker."""
        pid = os.fork()
        if pid:
            self._started[pid] = time.monotonic()
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        os.close(self._life_write)
        threading.Thread(target=self._stop_with_the_parent, daemon=True).start()
        try:
            self._work(self._say_ready)
        except BaseException as error:
            log.error("a worker failed", exc_info=error)
        os._exit(1)

    def _stop_with_the_parent(self) -> None:
        os.read(self._life_read, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _say_ready(self) -> None:
        os.write(self._ready_write, b"\0")

    def wait_until_ready(self, number: int) -> None:
        """Wait until each worker has said that it serves, or one has died."""
        seen = 0
        os.set_blocking(self._ready_read, False)
        import select

        while seen < number and not self._stopping:
            if select.select([self._ready_read], [], [], 0.1)[0]:
                seen += len(os.read(self._ready_read, number))
            self._reap(os.WNOHANG)

    def watch(self) -> None:
        """Wait for workers to end; start another for one that was not told to."""
        while self._started:
            self._reap(0)

    def _reap(self, options: int) -> None:
        try:
            pid, status = os.waitpid(-1, options)
        except (ChildProcessError, InterruptedError):
            return
        began = self._started.pop(pid, None)
        if began is None or self._stopping:
            return
        log.error("worker %d ended with status %d", pid, os.waitstatus_to_exitcode(status))
        if time.monotonic() - began < TOO_SOON:
            self.code = 1
            self.stop()
        else:
            self.start()

    def stop(self, *_: Any) -> None:
        """Tell every worker to stop; a second signal is passed on, too."""
        if not self._stopping:
            self._close()  # else clients would wait at a door that nobody opens
        self._stopping = True
        for pid in list(self._started):
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                continue
