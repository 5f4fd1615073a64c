"""Carries a stream to a client: as one JSON answer where that is enough, else as events (N-15, H-5, H-35)."""

import anyio

from ...protocol.sse import encode_event
from .answer import Answer, Receive
from .minding import Minder, Pings
from .streams import Reader, Stream


class Carrier:
    """What one connection needs to know to carry one stream."""

    __slots__ = ("_answer", "_ids", "_json", "_pings", "_receive", "_stream")

    def __init__(
        self, stream: Stream, answer: Answer, receive: Receive, pings: Pings, *, json: bool, ids: bool
    ) -> None:
        """`json`: a lone answer may be plain JSON. `ids`: events have ids, so that the client can come back."""
        self._stream = stream
        self._answer = answer
        self._receive = receive
        self._pings = pings
        self._json = json
        self._ids = ids

    async def carry(self, position: int, *, primed: bool) -> None:
        """Write what follows a position until the stream ends.

        A client hanging up cancels nothing (H-10): the stream goes on without a reader.
        """
        stream, answer = self._stream, self._answer
        reader = Reader(stream, position, answer if self._ids else None)
        if primed:
            answer.opening = encode_event(b"", id=reader.id)
        with anyio.CancelScope() as carrying:
            minder = Minder(self._receive, carrying, answer, self._pings, streams=stream.takes_events)
            try:
                if not self._json:
                    await answer.start()
                await self._write(reader)
            finally:
                minder.stop()
                reader.leave()

    async def _write(self, reader: Reader) -> None:
        stream = self._stream
        while True:
            if stream.ended and not self._answer.started and stream.end - reader.position == 1 and self._json:
                data = reader.next()
                assert data is not None, "it was counted"
                await self._answer.json(200, data)
                return
            if not stream.takes_events and not stream.ended:
                await stream.wait()
                continue
            while not reader.replaced and (data := reader.next()) is not None:
                await self._answer.event(data, id=reader.id if self._ids else None)
            reader.wrote()
            if stream.release_ms is not None and not stream.ended:
                await self._let_go(reader)
                return
            if stream.ended or reader.replaced:
                await self._finish()
                return
            await stream.wait()

    async def _let_go(self, reader: Reader) -> None:
        """Close the connection, not the stream: the client comes back after `retry` (H-36)."""
        retry, self._stream.release_ms = self._stream.release_ms, None
        await self._answer.event(b"", id=reader.id, retry=retry)
        await self._answer.end()

    async def _finish(self) -> None:
        if not self._answer.started and not self._stream.takes_events:
            return  # it was cancelled, and there is no stream that could end
        await self._answer.start()
        await self._answer.end()
