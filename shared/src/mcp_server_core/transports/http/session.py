"""One session of a handshake client over HTTP: the channel that a server sees, and the streams that carry it.

Each message goes to exactly one stream (H-12): answers to the one of their request, what belongs to a request to the
same one, everything else to the standing stream that the client opened with GET.
"""

import asyncio
from collections import OrderedDict, deque
from typing import Any

from ...errors import ConnectionLost, InternalError, InvalidRequest
from ...protocol.codec import encode
from ...protocol.http import Refusal, request_ids
from ...protocol.messages import Json, RequestId
from ...protocol.revisions import at_least
from .streams import Stream, read_event_id

MAX_UNREAD = 1024  # messages that the server has not taken yet
MAX_FINISHED = 32  # streams that are kept for a client that lost the end of them
MAX_FINISHED_BYTES = 1024 * 1024
_STANDING = 0


class HttpSession:
    """A channel over many HTTP requests, known by an id that cannot be guessed."""

    def __init__(self, id: str, principal: str, opened: float) -> None:
        self.id = id
        self.principal = principal
        self.revision: str | None = None
        self.touched = opened
        self.standing = Stream(_STANDING)
        self._incoming: deque[Any] = deque()
        self._arrived: asyncio.Future[None] | None = None
        self._by_request: dict[RequestId, Stream] = {}
        self._finished: OrderedDict[int, Stream] = OrderedDict()
        self._last_number = _STANDING
        self.closed = False

    # What the server sees.

    async def receive(self) -> Any:
        """The next message that was posted."""
        while not self._incoming:
            if self.closed:
                raise ConnectionLost("the session is over")
            self._arrived = asyncio.get_running_loop().create_future()
            await self._arrived
        return self._incoming.popleft()

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Put a message on the stream it belongs to."""
        if self.closed:
            raise ConnectionLost("the session is over")
        data = encode(message)
        if isinstance(message, list) or "method" not in message:
            self._answer(message, data)
            return
        stream = None if about is None else self._by_request.get(about)
        is_question = "id" in message
        if stream is None or not stream.takes_events:
            stream = self.standing
            if is_question and stream.reader is None:
                raise ConnectionLost("the client holds no stream open on which it could be asked")  # D-10
        await stream.put(data, keep=is_question)

    def _answer(self, message: Json | list[Json], data: bytes) -> None:
        answers = message if isinstance(message, list) else [message]
        ids: list[RequestId] = [answer["id"] for answer in answers if "id" in answer]
        if self.revision is None and not isinstance(message, list):
            self.revision = message.get("result", {}).get("protocolVersion")
        stream = next((self._by_request[id] for id in ids if id in self._by_request), None)
        if stream is not None:  # else it was cancelled meanwhile
            self._finish(stream, data)

    def _finish(self, stream: Stream, data: bytes | None) -> None:
        for id in [id for id, carrier in self._by_request.items() if carrier is stream]:
            del self._by_request[id]
        stream.finish(data)
        if stream.shown:
            self.keep(stream)

    async def release(self, about: RequestId, retry_ms: int) -> None:
        """Close the connection of a request's stream and keep the stream; only since 2025-11-25 (H-11, H-34)."""
        stream = self._by_request.get(about)
        if stream is not None and stream.takes_events and self.polls:
            stream.release(retry_ms)

    async def close(self) -> None:
        """End the session; every stream ends with it."""
        self.closed = True
        for stream in {id(stream): stream for stream in self._by_request.values()}.values():
            stream.finish(None)
        self._by_request.clear()
        self.standing.finish(None)
        self._wake()

    # What the transport does.

    @property
    def polls(self) -> bool:
        """Whether the client knows priming events and comes back to a closed connection (H-35, H-40)."""
        return self.revision is not None and at_least(self.revision, "2025-11-25")  # pyright: ignore[reportArgumentType] - compared as text

    @property
    def busy(self) -> bool:
        """Whether something is in flight or somebody listens."""
        return bool(self._by_request) or self.standing.reader is not None

    def deliver(self, value: Any, *, takes_events: bool) -> Stream | None:
        """Hand a message to the server; the stream on which it is answered, if it is to be answered."""
        ids = request_ids(value)
        for id in ids:
            if id in self._by_request or len(set(ids)) < len(ids):
                raise Refusal(400, InvalidRequest("That id is still in use by an earlier request"), id)  # J-3
        if len(self._incoming) >= MAX_UNREAD:
            raise Refusal(503, InternalError("Too many messages at once"), ids[0] if ids else None)
        stream = None
        if ids:
            self._last_number += 1
            stream = Stream(self._last_number, takes_events=takes_events)
            self._by_request.update(dict.fromkeys(ids, stream))
        self._incoming.append(value)
        self._wake()
        for item in value if isinstance(value, list) else [value]:
            self._withdraw(item)
        return stream

    def _withdraw(self, value: Any) -> None:
        """A request that its client cancels is not answered any more: its stream ends (CN-2)."""
        if not isinstance(value, dict) or value.get("method") != "notifications/cancelled" or "id" in value:
            return
        params = value.get("params")
        id = params.get("requestId") if isinstance(params, dict) else None
        if not isinstance(id, str | int) or isinstance(id, bool):
            return
        stream = self._by_request.pop(id, None)
        if stream is not None and stream not in self._by_request.values():
            stream.finish(None)

    def _wake(self) -> None:
        if self._arrived is not None and not self._arrived.done():
            self._arrived.set_result(None)

    def keep(self, stream: Stream) -> None:
        """Keep a finished stream for a while: its client may have lost the end of it."""
        self._finished[stream.number] = stream
        while len(self._finished) > MAX_FINISHED or (
            len(self._finished) > 1
            and sum(kept.size for kept in self._finished.values()) > MAX_FINISHED_BYTES
        ):
            self._finished.popitem(last=False)

    def resume(self, event_id: str) -> tuple[Stream, int] | None:
        """The stream an event id belongs to and the position after it; None for what is not there (any more)."""
        named = read_event_id(event_id)
        if named is None:
            return None
        number, position = named
        stream = self._find(number)
        return (stream, position) if stream is not None and stream.holds(position) else None

    def _find(self, number: int) -> Stream | None:
        if number == _STANDING:
            return self.standing
        if number in self._finished:
            return self._finished[number]
        return next((stream for stream in self._by_request.values() if stream.number == number), None)
