"""The seam between what is said and how it travels: a server, a client and a transport meet here."""

from typing import Any, Protocol

from .protocol.messages import Json, RequestId


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
