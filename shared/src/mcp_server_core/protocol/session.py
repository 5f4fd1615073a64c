"""One connection as the server sees it: who the peer is, what is in flight, what is waited for.

Values go in through `receive`, decisions come out as events; nothing here does I/O or runs a handler.
The dispatch is the table of WIRE 2.4.
"""

from typing import Any, Generic, TypeAlias, TypeVar

from ..errors import InvalidParams, InvalidRequest, LocalProtocolError, McpError, ParseError
from .codec import Malformed
from .handshake import Handshake, initialize
from .messages import (
    Invalid,
    Json,
    Message,
    Notification,
    Request,
    RequestId,
    Response,
    classify,
    failure,
    notification,
    request,
    success,
)
from .profile import Profile
from .revisions import BATCHES, META_VERSION, STATELESS
from .scope import Scope
from .stateless import Stateless

W = TypeVar("W")
MAX_BATCH = 256  # SEC-17
HOW_TO_OPEN = (
    "Open with `initialize`, or put io.modelcontextprotocol/protocolVersion and "
    "io.modelcontextprotocol/clientCapabilities into `_meta` of each request"
)


class Send:
    """Send this now."""

    __slots__ = ("message",)

    def __init__(self, message: Json | list[Json]) -> None:
        self.message = message


class Serve:
    """Run the handler of this request, then `finish` or `refuse` it."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Cancel:
    """The peer no longer wants this request: stop the work, answer nothing."""

    __slots__ = ("scope",)

    def __init__(self, scope: Scope) -> None:
        self.scope = scope


class Answered(Generic[W]):
    """The peer answered a question of ours."""

    __slots__ = ("response", "waiter")

    def __init__(self, waiter: W, response: Response) -> None:
        self.waiter = waiter
        self.response = response


class Notified:
    """The peer said something: `initialized`, `roots/list_changed` or `progress`."""

    __slots__ = ("method", "params")

    def __init__(self, method: str, params: Json) -> None:
        self.method = method
        self.params = params


class Dropped:
    """Something arrived that is answered with silence; worth a log line."""

    __slots__ = ("reason",)

    def __init__(self, reason: str) -> None:
        self.reason = reason


Event: TypeAlias = Send | Serve | Cancel | Answered[Any] | Notified | Dropped


class Batch:
    """Requests that came in one array and are answered in one array (J-10)."""

    __slots__ = ("missing", "replies")

    def __init__(self) -> None:
        self.missing = 0
        self.replies: list[Json] = []

    def ready(self) -> list[Json] | None:
        """The array of replies, once nothing is missing; never an empty one."""
        return self.replies if self.missing == 0 and self.replies else None


class Session(Generic[W]):
    """The state of one connection. `W` is whatever the caller wants back when its question is answered."""

    __slots__ = ("_last_id", "_stateless", "handshake", "in_flight", "principal", "profile", "waiting")

    def __init__(self, profile: Profile, *, principal: str = "") -> None:
        self.profile = profile
        self.principal = principal
        self.handshake: Handshake | None = None
        self.in_flight: dict[RequestId, Scope] = {}
        self.waiting: dict[RequestId, W] = {}
        self._stateless = Stateless(profile)
        self._last_id = 0

    # In.

    def receive(self, value: Any) -> list[Event]:
        """Take one decoded value from the peer; say what is to be done."""
        if type(value) is dict:
            return self._receive_message(classify(value), None)
        if type(value) is list:
            return self._receive_array(value)
        if type(value) is Malformed:
            return [Send(failure(None, ParseError(value.reason)))]  # S-13
        return self._receive_message(classify(value), None)

    def _receive_array(self, values: list[Any]) -> list[Event]:
        error = refuse_array(values, None if self.handshake is None else self.handshake.revision)
        if error is not None:
            return [Send(failure(None, error))]
        batch = Batch()
        batch.missing = 1  # itself, while it is read: a batch may cancel its own requests
        events: list[Event] = []
        for value in values:
            events += self._receive_message(classify(value), batch)
        batch.missing -= 1
        replies = batch.ready()
        if replies is not None:
            events.append(Send(replies))
        return events

    def _receive_message(self, message: Message, batch: Batch | None) -> list[Event]:
        match message:
            case Request():
                return self._receive_request(message, batch)
            case Notification():
                return self._receive_notification(message)
            case Response():
                waiter = self.waiting.pop(message.id, None)
                if waiter is None:
                    return [Dropped(f"an answer to nobody, id {message.id!r:.60}")]
                return [Answered(waiter, message)]
            case Invalid():
                if message.silent:
                    return [Dropped(message.error.message)]
                return self._reply(failure(message.id, message.error), batch)

    def _receive_request(self, message: Request, batch: Batch | None) -> list[Event]:
        try:
            if message.id in self.in_flight:
                raise InvalidRequest("That id is still in use by an earlier request")  # J-3, J-4
            answer = self._open(message)
        except McpError as error:
            return self._reply(failure(message.id, error), batch)
        if not isinstance(answer, Scope):
            return self._reply(success(message.id, answer), batch)
        self.in_flight[message.id] = answer
        if batch is not None:
            answer.batch = batch
            batch.missing += 1
        return [Serve(answer)]

    def _open(self, message: Request) -> Scope | Json:
        """A scope to serve, or the result itself where the protocol alone knows the answer."""
        handshake, method = self.handshake, message.method
        meta = message.meta
        if META_VERSION in meta and (handshake is None or meta[META_VERSION] != handshake.revision):
            # L-41, L-42: the claim decides, whatever the method and whatever happened before.
            scope = self._stateless.open(message)
            return (
                self._stateless.finish(scope, self._stateless.discover())
                if method == "server/discover"
                else scope
            )
        if method == "initialize":
            return self._initialize(message)
        if method == "ping":
            return {}  # PI-1: also before initialize
        if handshake is None:
            raise InvalidParams(HOW_TO_OPEN, data={"supported": list(STATELESS)})  # L-17, L-22
        scope = handshake.open(message, self.profile)
        return handshake.set_level(message.params) if method == "logging/setLevel" else scope

    def _initialize(self, message: Request) -> Json:
        if self.handshake is not None:
            raise InvalidRequest("Already initialized")  # L-16
        self.handshake, result = initialize(message.params, self.profile)
        return result

    def _receive_notification(self, message: Notification) -> list[Event]:
        match message.method:
            case "notifications/cancelled":
                return self._receive_cancellation(message.params)
            case "notifications/initialized" if self.handshake is not None:
                self.handshake.initialized = True
                return [Notified(message.method, message.params)]
            case "notifications/roots/list_changed" | "notifications/progress" if self.handshake is not None:
                return [Notified(message.method, message.params)]
            case _:
                return [Dropped(f"notification {message.method!r:.60}")]  # D-5

    def _receive_cancellation(self, params: Json) -> list[Event]:
        id = params.get("requestId")
        if type(id) is not str and type(id) is not int:
            return [Dropped("a cancellation that names no request")]  # CN-4
        scope = self.in_flight.pop(id, None)
        if scope is None:
            return [Dropped("a cancellation of something that is not in flight")]  # CN-2
        scope.closed = True
        events: list[Event] = [Cancel(scope)]
        batch = scope.batch
        if batch is not None:
            batch.missing -= 1
            replies = batch.ready()
            if replies is not None:
                events.append(Send(replies))
        return events

    def _reply(self, message: Json, batch: Batch | None) -> list[Event]:
        if batch is None:
            return [Send(message)]
        batch.replies.append(message)
        return []

    # Out.

    def finish(self, scope: Scope, result: Json) -> Json | list[Json] | None:
        """The message that answers a request, or None when it was cancelled or its batch is not complete."""
        if scope.closed:
            return None
        return self._close(scope, success(scope.id, scope.era.finish(scope, result)))

    def refuse(self, scope: Scope, error: McpError) -> Json | list[Json] | None:
        """The message that answers a request with an error, or None like `finish`."""
        if scope.closed:
            return None
        return self._close(scope, failure(scope.id, scope.era.refuse(scope, error)))

    def _close(self, scope: Scope, message: Json) -> Json | list[Json] | None:
        scope.closed = True
        self.in_flight.pop(scope.id, None)
        batch: Batch | None = scope.batch
        if batch is None:
            return message
        batch.missing -= 1
        batch.replies.append(message)
        return batch.ready()

    def ask(self, method: str, params: Json | None, waiter: W) -> tuple[RequestId, Json]:
        """A question to the peer; `waiter` comes back with its answer (handshake era only, L-36)."""
        if self.handshake is None:
            raise LocalProtocolError("a peer without a handshake cannot be asked")
        self._last_id += 1
        self.waiting[self._last_id] = waiter
        return self._last_id, request(self._last_id, method, params)

    def abandon(self, id: RequestId, reason: str) -> Json | None:
        """Stop waiting for an answer; the notification that tells the peer so (CN-1)."""
        if self.waiting.pop(id, None) is None:
            return None
        return notification("notifications/cancelled", {"requestId": id, "reason": reason})


def refuse_array(values: list[Any], revision: str | None) -> InvalidRequest | None:
    """Why an array is no batch at this revision; None if it is one."""
    if revision != BATCHES:
        return InvalidRequest("This revision has no batches: send one message at a time")  # J-11
    if not values:
        return InvalidRequest("A batch is not empty")  # J-10
    if len(values) > MAX_BATCH:
        return InvalidRequest(f"A batch has at most {MAX_BATCH} messages")
    if any(type(value) is dict and value.get("method") == "initialize" for value in values):
        return InvalidRequest("`initialize` does not go into a batch")  # L-12
    if any(_has_foreign_claim(value, BATCHES) for value in values):
        return InvalidRequest("A request of another revision does not go into a batch")
    return None


def _has_foreign_claim(value: Any, revision: str) -> bool:
    """Whether a value of a batch is enveloped for another revision."""
    params = value.get("params") if type(value) is dict else None
    meta = params.get("_meta") if type(params) is dict else None
    return type(meta) is dict and META_VERSION in meta and meta[META_VERSION] != revision
