"""Who a request came from, as far as serving it needs to know: a connection, or a single exchange."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ..protocol.messages import Json, RequestId
from ..protocol.scope import Scope

if TYPE_CHECKING:
    from ..places import Places
    from .app import Server
    from .asking import Root


class Caller(Protocol):
    """The way back to whoever asked, while a handler runs."""

    @property
    def server(self) -> "Server[Any]":
        """The server that was asked."""
        ...

    @property
    def principal(self) -> str:
        """Who asked, as far as that was proven; empty when nobody had to prove anything."""
        ...

    @property
    def name(self) -> str | None:
        """A name for the connection this came over; None for a request that came alone."""
        ...

    @property
    def told_roots(self) -> "list[Root]":
        """The roots a stateless client told last, for requests that cannot ask; none without a connection."""
        ...

    async def hear_roots(self, roots: "Sequence[Root]") -> None:
        """A stateless client told its roots."""
        ...

    async def send(self, message: Json, *, about: RequestId | None = None) -> None:
        """Say something on the way."""
        ...

    async def listen(self, scope: Scope, accepted: Json, places: "Mapping[str, Places | None]") -> Json:
        """Hold a listen stream open; its last result (SU-6). `places` says where each resource lies."""
        ...
