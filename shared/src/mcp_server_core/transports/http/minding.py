"""Looks after requests that take longer: notices that a client is gone, and keeps streams alive.

Most calls are over before anybody needs to look, so nothing is started for them but a timer. There can be thousands
of streams that wait for a change, so each of them costs one task, and one clock ticks for all.
"""

import asyncio
from contextlib import suppress

import anyio

from .answer import Answer, Receive

FIRST_LOOK = 0.05
COMMIT = (
    2.0  # seconds after which a call without an answer becomes a stream, so that nobody takes it for dead
)


class Pings:
    """Sends a comment on every open stream now and then, so that nobody on the way takes it for dead (N-8)."""

    __slots__ = ("_open", "_seconds", "_sending")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._open: set[Answer] = set()
        self._sending: set[asyncio.Task[None]] = set()

    @property
    def commit_seconds(self) -> float:
        """When a call without an answer becomes a stream."""
        return min(COMMIT, self._seconds)

    def add(self, answer: Answer) -> None:
        """A stream is open, or about to be."""
        self._open.add(answer)

    def discard(self, answer: Answer) -> None:
        """A stream is over."""
        self._open.discard(answer)

    def send(self, answer: Answer) -> None:
        """Begin a stream, or show that it is alive; whoever is slow to read is not pinged as well."""
        if not answer.busy:
            task = asyncio.get_running_loop().create_task(answer.ping() if answer.started else answer.start())
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def run(self) -> None:
        """Tick until cancelled."""
        try:
            while True:
                await asyncio.sleep(self._seconds)
                for answer in list(self._open):
                    self.send(answer)
        finally:
            for task in self._sending:
                task.cancel()


class Minder:
    """Cancels the work when the client hangs up; begins the stream of a long call."""

    __slots__ = ("_answer", "_commit", "_pings", "_receive", "_timer", "_watching", "_work")

    def __init__(
        self, receive: Receive, work: anyio.CancelScope, answer: Answer, pings: Pings, *, streams: bool
    ) -> None:
        """`streams` says whether the client takes a stream of events at all."""
        self._receive = receive
        self._work = work
        self._answer = answer
        self._pings = pings
        self._commit = streams
        self._watching: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = loop.call_later(FIRST_LOOK, self._start)

    def stop(self) -> None:
        """The work is done."""
        if self._timer is not None:
            self._timer.cancel()
        if self._watching is not None:
            self._watching.cancel()
            self._pings.discard(self._answer)

    def _start(self) -> None:
        self._timer = None
        loop = asyncio.get_running_loop()
        self._watching = loop.create_task(self._watch())
        if self._answer.started:
            self._pings.add(self._answer)
        elif self._commit:
            self._timer = loop.call_later(self._pings.commit_seconds, self._begin)

    def _begin(self) -> None:
        self._timer = None
        self._pings.send(self._answer)
        self._pings.add(self._answer)

    async def _watch(self) -> None:
        with suppress(asyncio.CancelledError):
            while (await self._receive())["type"] != "http.disconnect":
                pass  # the body was read: what counts now is the end
            self._work.cancel()
