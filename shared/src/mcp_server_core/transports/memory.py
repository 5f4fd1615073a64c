"""Two ends in one process, for tests and for embedding a server. Messages still pass through the codec."""

from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from ..errors import ConnectionLost, ParseError
from ..protocol.codec import Malformed, decode, encode
from ..protocol.messages import Json, RequestId

BUFFERED = 16  # messages: a slow end slows the other one down


class MemoryChannel:
    """One end of a pair."""

    __slots__ = ("_incoming", "_outgoing")

    def __init__(
        self, incoming: MemoryObjectReceiveStream[bytes], outgoing: MemoryObjectSendStream[bytes]
    ) -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> Any:
        """The next message, as it would come off a wire."""
        try:
            data = await self._incoming.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise ConnectionLost("the other end is closed") from None
        try:
            return decode(data)
        except ParseError as error:
            return Malformed(error.message)

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Hand a message to the other end."""
        await self.send_bytes(encode(message))

    async def send_bytes(self, data: bytes) -> None:
        """Hand over bytes as they are: a test can send what is no message at all."""
        try:
            await self._outgoing.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise ConnectionLost("the other end is closed") from None

    async def close(self) -> None:
        """Close this end; the other one sees the end of the stream."""
        self._incoming.close()
        self._outgoing.close()


def pair() -> tuple[MemoryChannel, MemoryChannel]:
    """Two connected ends."""
    to_left, from_right = anyio.create_memory_object_stream[bytes](BUFFERED)
    to_right, from_left = anyio.create_memory_object_stream[bytes](BUFFERED)
    return MemoryChannel(from_right, to_right), MemoryChannel(from_left, to_left)
