"""One enveloped request that came alone, as it does over HTTP: no connection stands behind it.

What a handler says on the way goes out through `say`; when whoever serves the exchange cancels it, the client is gone.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ..channel import Reply
from ..errors import McpError
from ..protocol.messages import Json, Request, RequestId, failure, success
from ..protocol.mirror import Mirror
from ..protocol.revisions import META_SUBSCRIPTION
from ..protocol.scope import Scope
from ..protocol.stateless import Stateless
from .outbox import Outbox
from .subscriptions import LIST_KINDS, Listener

if TYPE_CHECKING:
    from ..places import Places
    from .app import Server
    from .asking import Root

Say: TypeAlias = Callable[[Json], Awaitable[None]]


class Exchange:
    """Serves one request and is done."""

    __slots__ = ("_era", "_outbox", "_say", "principal", "server")

    def __init__(self, server: "Server[Any]", era: Stateless, say: Say, principal: str) -> None:
        self.server = server
        self.principal = principal
        self._era = era
        self._say = say
        self._outbox: Outbox | None = None

    @property
    def name(self) -> None:
        """No connection, no name: the next request of this client cannot be told from a stranger's."""

    async def run(self, request: Request, mirror: Mirror | None) -> Reply:
        """The answer to the request; never raises, unless it is cancelled."""
        era = self._era
        try:
            scope = era.open(request, mirror)
            mirror = None  # a stream that stays open does not need it
        except McpError as error:
            return Reply(failure(request.id, error), error, opened=False)
        try:
            if request.method == "server/discover":
                result = era.discover()
            else:
                result = await self.server.answer(self, scope)
            return Reply(success(request.id, era.finish(scope, result)), None, opened=True)
        except McpError as raised:
            error = era.refuse(scope, raised)
            return Reply(failure(request.id, error), error, opened=True)
        finally:
            scope.closed = True

    @property
    def told_roots(self) -> "list[Root]":
        """None: no request knows of another."""
        return []

    async def hear_roots(self, roots: "Sequence[Root]") -> None:
        """Nothing outlives this request."""

    async def send(self, message: Json, *, about: RequestId | None = None) -> None:
        """Say something before the answer."""
        await self._say(message)

    async def listen(self, scope: Scope, accepted: Json, places: "Mapping[str, Places | None]") -> Json:
        """Pass notices on until the server stops or the client is gone (SU-1, SU-6, SU-9)."""
        outbox = self._outbox = Outbox()
        listener = Listener(outbox.post, scope.id)
        hub = self.server.subscriptions
        listener.tell("notifications/subscriptions/acknowledged", {"notifications": accepted})
        hub.add_lists(listener, [kind for kind in LIST_KINDS if accepted.get(f"{kind}ListChanged")])
        for uri, found in places.items():
            hub.add_uri(listener, uri, found)
        self.server.listening.add(self)
        scope.params.clear()  # a stream may stay for days, and does not need what it was opened with
        scope.meta.clear()
        try:
            while (waiting := await outbox.take()) is not None:
                await self._say(waiting[1])
        finally:
            self.server.listening.discard(self)
            hub.drop(listener)
        return {"_meta": {META_SUBSCRIPTION: scope.id}}

    def end(self) -> None:
        """End the listen stream politely: what waits is still sent, then the result."""
        if self._outbox is not None:
            self._outbox.close()
