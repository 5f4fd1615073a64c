"""The seam between what is said and how it travels: a server, a client and a transport meet here."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

from .errors import McpError
from .protocol.messages import Json, Request, RequestId

if TYPE_CHECKING:
    from .protocol.mirror import Mirror


class Channel(Protocol):
    """One connection to one peer. Messages are JSON values; a transport makes bytes of them.

    `receive` raises ConnectionLost at the end. `send` waits while the peer is slow, and raises
    ConnectionLost when the peer is gone. What cannot be read arrives as a `Malformed`.
    """

    async def receive(self) -> Any:
        """The next message from the peer."""
        ...

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Send a message. `about` is the request of the peer that it belongs to, if any."""
        ...

    async def close(self) -> None:
        """Let go of the connection; whoever waits in `receive` or `send` gets ConnectionLost."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A channel whose streams outlive their connections: streamable HTTP with sessions."""

    async def release(self, about: RequestId, retry_ms: int) -> None:
        """Close the connection that carries the stream of a request; the client comes back for the rest (H-34)."""
        ...


class Reply(NamedTuple):
    """The answer to one request that came alone."""

    message: Json
    error: McpError | None
    opened: bool
    """Whether the envelope was in order, so that the request was served at all."""


class Service(Protocol):
    """A server, as a transport for many peers sees it."""

    @property
    def name(self) -> str:
        """What the server calls itself."""
        ...

    async def serve(self, channel: Channel, *, principal: str = "") -> None:
        """Serve one peer until it is gone."""
        ...

    def exchange(
        self,
        request: Request,
        say: Callable[[Json], Awaitable[None]],
        *,
        mirror: "Mirror | None",
        principal: str,
    ) -> Awaitable[Reply]:
        """Serve one enveloped request; `say` carries what is said on the way. Cancelling it means: nobody waits."""
        ...

    async def stop(self) -> None:
        """End every listen stream politely."""
        ...
