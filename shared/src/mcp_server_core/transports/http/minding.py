"""Looks after one request that takes longer: notices that the client is gone, and keeps its stream alive.

Most calls are over before anybody needs to look, so nothing is started for them but a timer.
"""

import asyncio
from contextlib import suppress

import anyio

from .answer import Answer, Receive

FIRST_LOOK = 0.05
COMMIT = (
    2.0  # seconds after which a call without an answer becomes a stream, so that nobody takes it for dead
)


class Minder:
    """Cancels the work when the client hangs up; begins the stream of a long call and pings it."""

    __slots__ = ("_answer", "_ping_seconds", "_receive", "_streams", "_task", "_timer", "_work")

    def __init__(
        self, receive: Receive, work: anyio.CancelScope, answer: Answer, *, streams: bool, ping_seconds: float
    ) -> None:
        self._receive = receive
        self._work = work
        self._answer = answer
        self._streams = streams  # whether the client takes a stream of events
        self._ping_seconds = ping_seconds
        self._task: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(FIRST_LOOK, self._start)

    def stop(self) -> None:
        """The work is done."""
        self._timer.cancel()
        if self._task is not None:
            self._task.cancel()

    def _start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._mind())

    async def _mind(self) -> None:
        gone = asyncio.ensure_future(self._receive())  # the body was read: what comes now is the end
        try:
            if self._streams and not self._answer.started:
                await asyncio.wait({gone}, timeout=COMMIT)
                if not gone.done():
                    await self._answer.start()
            while not gone.done():
                await asyncio.wait({gone}, timeout=self._ping_seconds if self._streams else None)
                if not gone.done():
                    await self._answer.ping()
            self._work.cancel()
        finally:
            gone.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await gone
