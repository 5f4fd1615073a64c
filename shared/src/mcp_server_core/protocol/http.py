"""The rules of the HTTP endpoint as plain functions: what a POST is, and which status an error has.

The order of the checks is the table of WIRE 2.5. Nothing here knows a socket or a session's content.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from ..errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    InvalidParams,
    InvalidRequest,
    McpError,
    ParseError,
    UnsupportedVersion,
)
from .codec import decode
from .messages import Invalid, Json, Notification, Request, RequestId, Response, classify, failure
from .revisions import META_VERSION, REVISIONS, STATELESS

VERSION = b"mcp-protocol-version"
SESSION = b"mcp-session-id"
JSON_TYPE = "application/json"
EVENTS_TYPE = "text/event-stream"
# The statuses that the stateless revision orders (3.2); every other error is an answer like any other.
STATUSES = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    METHOD_NOT_FOUND: 404,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
}


_NONE: frozenset[bytes] = frozenset()


class Refusal(Exception):
    """A POST that is refused before anybody serves it: a status, and the JSON-RPC error that explains it."""

    def __init__(self, status: int, error: McpError, id: RequestId | None = None) -> None:
        super().__init__(error.message)
        self.status = status
        self.reply = failure(id, error)


class Head:
    """The header fields of a request, by lower-case name.

    A field that came twice keeps its first value; `Accept` is a list, and its lines are parts of it.
    """

    __slots__ = ("fields", "repeated")

    def __init__(self, fields: Iterable[tuple[bytes, bytes]]) -> None:
        self.fields: dict[bytes, bytes] = {}
        self.repeated: frozenset[bytes] = _NONE
        for name, value in fields:
            if name not in self.fields:
                self.fields[name] = value
                continue
            self.repeated |= {name}
            if name == b"accept":
                self.fields[name] += b", " + value

    def text(self, name: bytes) -> str | None:
        """The value of a field, or None."""
        value = self.fields.get(name)
        return None if value is None else value.decode("latin-1").strip(" \t")


class Enveloped(NamedTuple):
    """A request that carries its own envelope: served statelessly."""

    request: Request


class Opening(NamedTuple):
    """`initialize` without an envelope: a new session."""

    request: Request


class Within(NamedTuple):
    """Something for a session: one message, or a batch."""

    session: str
    value: Any


class Ignored(NamedTuple):
    """A notification that concerns nobody: accepted and dropped."""


Post: TypeAlias = Enveloped | Opening | Within | Ignored


def read_post(body: bytes | bytearray, head: Head) -> Post:
    """Say what a POST is; Refusal for what it cannot be (2.5, steps 5 to 14)."""
    try:
        value = decode(body)
    except ParseError as error:
        raise Refusal(400, error) from None
    if type(value) is list:
        return _read_array(value, head)
    message = classify(value)
    match message:
        case Request():
            return _read_request(message, value, head)
        case Invalid():
            if message.silent and message.error.code == INVALID_PARAMS:
                return Ignored()  # D-5: a notification, with params that are none
            raise Refusal(400, message.error, message.id)
        case Notification() | Response():
            return _read_other(message, value, head)


def _read_request(message: Request, value: Json, head: Head) -> Post:
    if _is_enveloped(message):
        return Enveloped(message)
    if message.method == "initialize":
        return Opening(message)
    version = head.text(VERSION)
    if version in STATELESS:
        raise Refusal(400, InvalidParams(f"`_meta` needs {META_VERSION}"), message.id)
    if version is not None and version not in REVISIONS:
        raise Refusal(400, UnsupportedVersion(version, STATELESS), message.id)  # H-30, L-23
    session = head.text(SESSION)
    if session is None:
        hint = "Open a session with `initialize`, or put an envelope into `_meta` of each request"
        raise Refusal(400, InvalidRequest(hint), message.id)  # H-22
    return Within(session, value)


def _is_enveloped(message: Request) -> bool:
    meta = message.params.get("_meta")
    return type(meta) is dict and META_VERSION in meta


def _read_other(message: Notification | Response, value: Json, head: Head) -> Post:
    version, session = head.text(VERSION), head.text(SESSION)
    if version is not None and version not in REVISIONS:
        raise Refusal(400, UnsupportedVersion(version, STATELESS))
    if session is not None and version not in STATELESS:
        return Within(session, value)
    if isinstance(message, Response):
        raise Refusal(400, InvalidRequest("An answer belongs to a session, and none is named"))
    return Ignored()


def _read_array(values: list[Any], head: Head) -> Post:
    for message in map(classify, values):
        if isinstance(message, Request) and (_is_enveloped(message) or message.method == "initialize"):
            raise Refusal(400, InvalidRequest("A request that opens something by itself comes alone"))  # L-12
    session = head.text(SESSION)
    if session is None or head.text(VERSION) in STATELESS:
        raise Refusal(400, InvalidRequest("A batch needs a session of revision 2025-03-26"))
    return Within(session, values)


def request_ids(value: Any) -> list[RequestId]:
    """The ids of the requests in a message or a batch: those that will be answered."""
    messages = (classify(item) for item in (value if isinstance(value, list) else [value]))
    return [message.id for message in messages if isinstance(message, Request)]


def refuse_unanswerable(values: list[Any]) -> InvalidRequest | None:
    """Why a batch without requests is not accepted: it holds something that is no message; None if it is."""
    messages = [classify(value) for value in values]
    if any(isinstance(message, Request) for message in messages):
        return None  # then what is broken gets an error in the array of answers (J-10)
    broken = (message for message in messages if isinstance(message, Invalid) and not message.silent)
    return next((InvalidRequest(message.error.message) for message in broken), None)


def status_of(error: McpError | None, *, opened: bool) -> int:
    """The status under which a stateless request is answered; `opened` when its envelope was in order (D-3)."""
    if error is None:
        return 200
    if not opened:
        return STATUSES.get(error.code, 400)
    return STATUSES.get(error.code, 200)


class Accepts(NamedTuple):
    """Which of the two types of answer a client takes (D-2)."""

    json: bool
    events: bool


_BOTH = Accepts(json=True, events=True)
_NEVER = re.compile(r"(?:^|;)\s*q\s*=\s*0(?:\.0*)?\s*(?:;|$)")  # a weight of zero


def read_accept(head: Head) -> Accepts:
    """What the `Accept` header allows; a missing one allows everything."""
    value = head.text(b"accept")
    if value is None or value == "application/json, text/event-stream":
        return _BOTH
    json = events = False
    for item in value.lower().split(","):
        kind, _, parameters = item.partition(";")
        if _NEVER.search(parameters):
            continue
        kind = kind.strip()
        json |= kind in (JSON_TYPE, "application/*", "*/*")
        events |= kind in (EVENTS_TYPE, "text/*", "*/*")
    return Accepts(json, events)


def is_json(head: Head) -> bool:
    """Whether the body says that it is JSON."""
    kind = (head.text(b"content-type") or "").partition(";")[0]
    return kind.strip().lower() == JSON_TYPE and b"content-type" not in head.repeated
