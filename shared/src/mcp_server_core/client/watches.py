"""Who hears of which change: watches of a session, and listen streams that each have an id."""

from typing import Any

import anyio

from ..protocol.messages import Json, RequestId
from ..protocol.revisions import META_SUBSCRIPTION
from .changes import Change, Changes, read_change
from .opening import as_object


class Stream:
    """One listen stream."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes
        self.opened = anyio.Event()
        self.left = anyio.Event()
        self.holding = anyio.CancelScope()
        self.failure: Exception | None = None


class Watches:
    """Everything that a client watches right now."""

    def __init__(self) -> None:
        self._of_session: list[Changes] = []
        self._streams: dict[RequestId, Stream] = {}

    def add(self, changes: Changes) -> None:
        """Hear of what is told to the session."""
        self._of_session.append(changes)

    def remove(self, changes: Changes) -> None:
        """Stop hearing of it."""
        self._of_session.remove(changes)

    def open(self, id: RequestId, changes: Changes) -> Stream:
        """Hear of what is told under the id of a listen request."""
        stream = self._streams[id] = Stream(changes)
        return stream

    def close(self, id: RequestId) -> None:
        """Stop hearing of it."""
        del self._streams[id]

    def end(self) -> None:
        """The server is gone: no watch hears anything any more."""
        for changes in self._all():
            changes.end()

    def receive(self, method: str, params: Json) -> None:
        """Take a notification; what is none of a watch is passed over."""
        subscription = as_object(params.get("_meta")).get(META_SUBSCRIPTION)
        if method == "notifications/subscriptions/acknowledged":
            stream = self._stream(subscription)
            if stream is not None:
                stream.opened.set()
        elif method == "notifications/cancelled":
            stream = self._stream(params.get("requestId"))
            if stream is not None:
                stream.changes.end()
        else:
            change = read_change(method, params)
            if change is not None:
                self._spread(change, subscription)

    def _spread(self, change: Change, subscription: Any) -> None:
        stream = self._stream(subscription)
        if stream is not None:
            stream.changes.add(change)
        elif subscription is None:
            # Some servers leave the tag out: a notice without a tag goes to whoever wants it.
            for changes in self._all():
                if changes.wants(change):
                    changes.add(change)

    def _stream(self, id: Any) -> Stream | None:
        return self._streams.get(id) if isinstance(id, int | str) else None

    def _all(self) -> list[Changes]:
        return [*self._of_session, *(stream.changes for stream in self._streams.values())]
