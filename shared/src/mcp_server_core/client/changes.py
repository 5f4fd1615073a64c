"""What changed on a server, as an async iterator."""

from typing import Literal, NamedTuple, TypeAlias

import anyio

from ..protocol.messages import Json

ChangeKind: TypeAlias = Literal["updated", "tools", "prompts", "resources"]
_KINDS: dict[str, ChangeKind] = {
    "notifications/resources/updated": "updated",
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}


class Change(NamedTuple):
    """A resource was updated, or one of the lists changed."""

    kind: ChangeKind
    uri: str | None = None


class Changes:
    """Changes as they come. Equal ones that nobody has taken yet are one."""

    def __init__(self, uris: frozenset[str], lists: frozenset[ChangeKind]) -> None:
        self.uris = uris
        self.lists = lists
        self._waiting: dict[Change, None] = {}
        self._wake: anyio.Event | None = None
        self._ended = False

    def __aiter__(self) -> "Changes":
        return self

    async def __anext__(self) -> Change:
        while not self._waiting:
            if self._ended:
                raise StopAsyncIteration
            self._wake = anyio.Event()
            await self._wake.wait()
        change = next(iter(self._waiting))
        del self._waiting[change]
        return change

    def wants(self, change: Change) -> bool:
        """Whether whoever iterates asked for this."""
        return change.uri in self.uris if change.kind == "updated" else change.kind in self.lists

    def add(self, change: Change) -> None:
        """One more."""
        self._waiting[change] = None
        if self._wake is not None:
            self._wake.set()

    def end(self) -> None:
        """There will be no more."""
        self._ended = True
        if self._wake is not None:
            self._wake.set()


def read_change(method: str, params: Json) -> Change | None:
    """The change a notification speaks of, if it does."""
    kind = _KINDS.get(method)
    if kind is None:
        return None
    uri = params.get("uri")
    return Change(kind, uri if isinstance(uri, str) and kind == "updated" else None)
