"""The old HTTP+SSE pair, for clients of 2024-11-05: a stream to read, and an address to post to (WIRE 4.4)."""

import asyncio
import logging
from collections import deque
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs

from anyio.abc import TaskGroup

from ...channel import Service
from ...errors import ConnectionLost, InternalError, InvalidRequest, McpError, ParseError
from ...protocol.codec import decode, encode
from ...protocol.http import Head, Refusal, is_json, request_ids
from ...protocol.messages import Json, RequestId
from ...protocol.revisions import META_VERSION
from ...protocol.sse import encode_event
from .answer import Answer, Receive
from .body import Room, read_body
from .carrying import Carrier
from .minding import Pings
from .session import MAX_UNREAD
from .settings import HttpSettings
from .streams import Stream

log = logging.getLogger("mcp_server_core")


class PairChannel:
    """One client: what it posts comes in here, everything else leaves on its one stream."""

    def __init__(self, principal: str) -> None:
        self.principal = principal
        self.stream = Stream(0)
        self._incoming: deque[Any] = deque()
        self._arrived = asyncio.Event()
        self._unanswered: set[RequestId] = set()
        self._ending = False
        self._closed = False

    async def receive(self) -> Any:
        """The next message that was posted."""
        while not self._incoming:
            if self._closed:
                raise ConnectionLost("the client is gone")
            self._arrived.clear()
            await self._arrived.wait()
        return self._incoming.popleft()

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Put a message on the stream."""
        if self._closed:
            raise ConnectionLost("the client is gone")
        await self.stream.put(encode(message), keep=True)
        for answer in message if isinstance(message, list) else [message]:
            if "method" not in answer:
                self._unanswered.discard(answer.get("id", ""))
        if self._ending:
            self.end_when_idle()

    def end_when_idle(self) -> None:
        """End the stream as soon as everything that was asked is answered."""
        self._ending = True
        if not self._unanswered:
            self.stream.finish(None)

    async def close(self) -> None:
        """The stream is gone, and the session with it (X-8)."""
        self._closed = True
        self.stream.finish(None)
        self._arrived.set()

    def deliver(self, value: Any) -> None:
        """Hand a message to the server."""
        if len(self._incoming) >= MAX_UNREAD:
            raise Refusal(503, InternalError("Too many messages at once"))
        self._unanswered.update(request_ids(value))
        self._incoming.append(value)
        self._arrived.set()


class Pair:
    """The two endpoints."""

    def __init__(
        self,
        service: Service,
        settings: HttpSettings,
        tasks: TaskGroup,
        pings: Pings,
        room: Room,
        messages: str,
    ) -> None:
        self._service = service
        self._settings = settings
        self._tasks = tasks
        self._pings = pings
        self._room = room
        self._messages = messages
        self._open: dict[str, PairChannel] = {}

    async def listen(self, receive: Receive, answer: Answer, principal: str) -> None:
        """GET: a new session, as long as the stream is read (X-1, X-2)."""
        if len(self._open) >= self._settings.max_sessions:
            await answer.empty(503, [(b"retry-after", b"1")])
            return
        id, channel = token_urlsafe(24), PairChannel(principal)
        self._open[id] = channel
        # path and query only, so that the client resolves it on the origin it knows.
        address = f"{self._messages}?session_id={id}"
        answer.opening = encode_event(address.encode(), event="endpoint")
        self._tasks.start_soon(self._serve, channel)
        try:
            carrier = Carrier(channel.stream, answer, receive, self._pings, json=False, ids=False)
            await carrier.carry(0, primed=False)
        finally:
            del self._open[id]
            await channel.close()

    async def post(self, query: bytes, head: Head, receive: Receive, answer: Answer, principal: str) -> None:
        """POST: a message for a session; the answer to it leaves on the stream (X-3, X-4)."""
        if not is_json(head):
            raise Refusal(415, InvalidRequest("The body of a POST is application/json"))
        id = parse_qs(query.decode("latin-1")).get("session_id", [""])[0]
        channel = self._open.get(id)
        if channel is None or channel.principal != principal:
            raise Refusal(404, McpError("There is no such session (any more)", code=InvalidRequest.code))
        try:
            value = decode(await read_body(receive, head, self._settings.max_body, self._room, answer))
        except ParseError as error:
            raise Refusal(400, error) from None
        _make_opaque(value)
        channel.deliver(value)
        await answer.empty(202)

    def drain(self) -> None:
        """Let calls in flight finish, and end the streams."""
        for channel in self._open.values():
            channel.end_when_idle()

    async def end_all(self) -> None:
        """End every stream."""
        for channel in list(self._open.values()):
            await channel.close()

    async def _serve(self, channel: PairChannel) -> None:
        try:
            await self._service.serve(channel, principal=channel.principal)
        except Exception:
            log.exception("a session failed")
        finally:
            await channel.close()


def _make_opaque(value: Any) -> None:
    """X-8: the stateless revision has no binding here, so a claim of it means nothing."""
    for item in value if isinstance(value, list) else [value]:
        params = item.get("params") if isinstance(item, dict) else None
        meta = params.get("_meta") if isinstance(params, dict) else None
        if isinstance(meta, dict):
            meta.pop(META_VERSION, None)
