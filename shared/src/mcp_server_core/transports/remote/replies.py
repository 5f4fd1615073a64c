"""From an HTTP response to messages: one JSON value, a stream of events, or a refusal."""

import random
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ...errors import McpError, ParseError
from ...protocol.codec import Malformed, decode
from ...protocol.messages import Json, RequestId
from ...protocol.sse import Event, Events

if TYPE_CHECKING:
    from .web import Answer

Deliver: TypeAlias = Callable[[Any], Awaitable[None]]
"""Takes what `receive` of the channel gives next."""

JSON, SSE = "application/json", "text/event-stream"
EITHER = {"Accept": f"{JSON}, {SSE}", "Content-Type": JSON}
"""Headers of every POST (H-2, N-2)."""

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0


class Refused(McpError):
    """An HTTP status where a message should be. The code is the status, which no JSON-RPC error has (E-7)."""

    def __init__(self, status: int, why: str = "") -> None:
        super().__init__(f"The server answered HTTP {status}{why}", code=status)


class Trail:
    """How far a stream was read, and when it may be taken up again."""

    def __init__(self) -> None:
        self.last_id: str | None = None
        self.failures = 0
        """How often the stream ended since it last brought something."""
        self._retry: float | None = None

    def note(self, event: Event) -> None:
        """One more event was read."""
        self.failures = 0
        if event.id is not None:
            self.last_id = event.id if event.id and event.id.isprintable() else None
        if event.retry is not None:
            self._retry = event.retry / 1000

    def pause(self) -> float:
        """Seconds to wait before the next try: what the server said (H-37), longer if it keeps failing."""
        self.failures += 1
        backoff = min(_FIRST_PAUSE * 2 ** min(self.failures - 1, 10), _LONGEST_PAUSE) * random.uniform(0.5, 1)  # noqa: S311
        if self._retry is None:
            return backoff
        return self._retry if self.failures == 1 else max(self._retry, backoff)


async def read_reply(answer: "Answer", id: RequestId | None, deliver: Deliver, trail: Trail) -> Json | None:
    """The response to a request; everything else in the reply is delivered. None if it ends without one.

    Refused for a status without a message, ParseError for what is no JSON.
    """
    if answer.status >= 300:
        return await _read_refusal(answer, id)
    if answer.type == SSE:
        return await read_stream(answer, id, deliver, trail)
    if answer.type != JSON:
        raise Refused(answer.status, f" with content type {answer.type!r}, which is no reply")
    value = decode(await answer.read())
    found: Json | None = None
    for item in value if isinstance(value, list) else (value,):
        if found is None and _answers(item, id):
            found = item
        else:
            await deliver(item)
    return found


async def read_stream(answer: "Answer", id: RequestId | None, deliver: Deliver, trail: Trail) -> Json | None:
    """Deliver the messages of an event stream, up to the response to `id`; None when it ends before."""
    events = Events(answer.limit)
    async for chunk in answer.chunks:
        for event in events.feed(chunk):
            trail.note(event)
            message = read_event(event)
            if _answers(message, id):
                return message
            if message is not None:
                await deliver(message)
    return None


def read_event(event: Event) -> Any:
    """The message in an event; None when it carries none (H-35)."""
    if not event.data or event.event != "message":
        return None
    try:
        return decode(event.data)
    except ParseError as error:
        return Malformed(error.message)


async def _read_refusal(answer: "Answer", id: RequestId | None) -> Json:
    """The JSON-RPC error in a 4xx or 5xx; its id may be missing (J-8), but it can mean no other request."""
    try:
        value = decode(await answer.read())
    except ParseError:
        value = None
    if isinstance(value, dict) and value.get("jsonrpc") == "2.0" and isinstance(value.get("error"), dict):
        return {**value, "id": id}
    raise Refused(answer.status)


def _answers(message: Any, id: RequestId | None) -> bool:
    if not isinstance(message, dict) or id is None or "method" in message:
        return False
    return message.get("id") == id and ("result" in message or "error" in message)
