"""Notices waiting to be sent to one peer. A slow peer costs bounded memory: equal notices wait only once."""

import anyio

from ..protocol.messages import Json
from .subscriptions import Listener, NoticeKey


class Outbox:
    """A queue in which a key stands at most once. Its size is bounded by the number of subscriptions."""

    __slots__ = ("_closed", "_waiting", "_wake")

    def __init__(self) -> None:
        self._closed = False
        self._waiting: dict[NoticeKey, Json] = {}
        self._wake: anyio.Event | None = None

    def post(self, key: NoticeKey, message: Json) -> None:
        """Queue a notice, unless one with this key is still waiting."""
        self._waiting.setdefault(key, message)
        if self._wake is not None:
            self._wake.set()

    def close(self) -> None:
        """Let `take` end once nothing waits any more."""
        self._closed = True
        if self._wake is not None:
            self._wake.set()

    async def take(self) -> tuple[Listener, Json] | None:
        """The next notice and whom it is for; waits for one. None when the outbox is closed and empty."""
        while (notice := self.take_now()) is None:
            if self._closed:
                return None
            self._wake = anyio.Event()
            await self._wake.wait()
        return notice

    def take_now(self) -> tuple[Listener, Json] | None:
        """The next notice and whom it is for, or None."""
        if not self._waiting:
            return None
        key = next(iter(self._waiting))
        return key[0], self._waiting.pop(key)

    def forget(self, listener: Listener, uri: str | None = None) -> None:
        """Throw away what waits for a listener: everything, or what is about one resource."""
        for key in [key for key in self._waiting if key[0] is listener and uri in (None, key[2])]:
            del self._waiting[key]
