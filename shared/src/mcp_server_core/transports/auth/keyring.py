"""The issuer's keys as this process remembers them: when to ask again, and what to do when nobody answers."""

import logging
from collections.abc import Awaitable, Callable, Sequence

import anyio

from .access import Unavailable
from .keys import Key

LIFETIME = 600.0  # seconds after which a key that was taken out is noticed
PAUSE = 30.0  # seconds between two questions: unknown key ids come from anybody
RETRY = 5.0  # seconds between two questions while there are no keys at all

log = logging.getLogger("mcp_server_core")


class Unanswered(Exception):
    """The issuer did not give us keys. Says why."""


class Keyring:
    """Asks for keys one question at a time, and keeps the old ones when there is no answer."""

    __slots__ = ("_answers", "_ask", "_asked", "_flight", "_keys", "_now", "_received")

    def __init__(self, ask: Callable[[], Awaitable[Sequence[Key]]], now: Callable[[], float]) -> None:
        self._ask = ask
        self._now = now
        self._flight = anyio.Lock()
        self._answers = 0
        self._keys: Sequence[Key] = ()
        self._asked: float | None = None
        self._received: float | None = None

    async def current(self) -> Sequence[Key]:
        """Keys that are fresh, or the best that can be had; the same object as long as nothing was fetched."""
        if self._keys and (self._within(self._received, LIFETIME) or self._flight.locked()):
            return self._keys
        return await self.renewed()

    async def renewed(self) -> Sequence[Key]:
        """Keys fetched now, unless that happened a moment ago. Unavailable when there are none."""
        answers = self._answers
        async with self._flight:
            # Whoever waited for somebody else's question takes the answer to that one.
            if self._answers == answers and not self._within(self._asked, PAUSE if self._keys else RETRY):
                await self._renew()
        if not self._keys:
            raise Unavailable("The keys of the token issuer cannot be had at the moment")
        return self._keys

    async def _renew(self) -> None:
        try:
            self._keys = await self._ask()
            self._received = self._now()
        except Unanswered as error:
            log.warning("no keys from the token issuer: %s", error)
        # Not reached by a caller that is cancelled: its leaving is no answer, the next one asks.
        self._asked = self._now()
        self._answers += 1

    def _within(self, since: float | None, seconds: float) -> bool:
        # A clock that was set back makes an age negative; that counts as long ago.
        return since is not None and 0 <= self._now() - since < seconds
