"""A client without I/O: one revision, one `Session`, and every answer held against the oracle."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from mcp_server_core.errors import McpError
from mcp_server_core.protocol.messages import Json
from mcp_server_core.protocol.profile import CacheHint, Profile
from mcp_server_core.protocol.revisions import HANDSHAKE, REVISIONS, STATELESS, Revision
from mcp_server_core.protocol.scope import Scope
from mcp_server_core.protocol.session import Answered, Cancel, Dropped, Event, Notified, Send, Serve, Session

from .oracle import check

__all__ = ["HANDSHAKE", "NEWEST", "REVISIONS", "STATELESS"]

META = "io.modelcontextprotocol/"
NEWEST: Revision = "2026-07-28"
CLIENT = {"name": "client", "version": "1"}
INFO: Json = {
    "name": "server",
    "version": "2",
    "title": "The Server",
    "description": "Serves.",
    "websiteUrl": "https://example.com/",
    "icons": [
        {"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}
    ],
}
CAPABILITIES: Json = {
    "logging": {},
    "completions": {},
    "prompts": {"listChanged": True},
    "resources": {"listChanged": True, "subscribe": True},
    "tools": {"listChanged": True},
}
STAMP = {META + "serverInfo": INFO}

Talk: TypeAlias = Session[str]


def profile(capabilities: Json = CAPABILITIES, **rest: Any) -> Profile:
    """A server that offers these capabilities."""
    return Profile(INFO, lambda: capabilities, **rest)


PROFILE = profile(instructions="Be kind.", cache=CacheHint(60_000, public=True))


def request(id: Any, method: str, params: Json | None = None) -> Json:
    """A request as a handshake client writes it."""
    message: Json = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def notice(method: str, params: Json | None = None) -> Json:
    """A notification."""
    message: Json = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def initialize(id: Any = 0, revision: str = "2025-11-25", **changes: Any) -> Json:
    """The opening of a handshake client."""
    params: Json = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT, **changes}
    return request(id, "initialize", params)


def envelope(version: Any = NEWEST, **more: Any) -> Json:
    """`_meta` of a stateless request; names in `more` get the reserved prefix."""
    meta: Json = {META + "protocolVersion": version, META + "clientCapabilities": {}}
    return {**meta, **{META + name: value for name, value in more.items()}}


def enveloped(id: Any, method: str, params: Json | None = None, **more: Any) -> Json:
    """A request as a stateless client writes it."""
    return request(id, method, {**(params or {}), "_meta": envelope(**more)})


def failure(id: Any, code: int, message: str, data: Any = None) -> Json:
    """The error reply with these members; without an id when it is None."""
    error: Json = {"code": code, "message": message}
    if data is not None:
        error["data"] = data
    reply: Json = {"jsonrpc": "2.0", "id": id, "error": error}
    if id is None:
        del reply["id"]
    return reply


def success(id: Any, result: Json) -> Json:
    """The reply with this result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def plain(events: Sequence[Event]) -> list[tuple[Any, ...]]:
    """Events as values that can be compared."""
    return [_plain(event) for event in events]


def _plain(event: Event) -> tuple[Any, ...]:
    match event:
        case Send():
            return ("send", event.message)
        case Serve():
            return ("serve", event.scope.id, event.scope.method)
        case Cancel():
            return ("cancel", event.scope.id)
        case Answered():
            error = event.response.error
            return ("answered", event.waiter, event.response.result, error and (error.code, error.message))
        case Notified():
            return ("notified", event.method, event.params)
        case Dropped():
            return ("dropped",)


DROPPED = [("dropped",)]


class Peer:
    """A client that has opened the conversation as its revision wants it."""

    def __init__(
        self, revision: Revision, server: Profile = PROFILE, capabilities: Json | None = None
    ) -> None:
        self.revision: Revision = revision
        self.capabilities: Json = {} if capabilities is None else capabilities
        self.session: Talk = Session(server)
        if revision in HANDSHAKE:
            self.session.receive(initialize("open", revision, capabilities=self.capabilities))
            self.session.receive(notice("notifications/initialized"))

    def request(self, id: Any, method: str, params: Json | None = None, meta: Json | None = None) -> Json:
        """A request in the way of this revision."""
        meta = {} if meta is None else meta
        if self.revision in STATELESS:
            meta = {**envelope(clientCapabilities=self.capabilities), **meta}
        if meta:
            params = {**(params or {}), "_meta": meta}
        return request(id, method, params)

    def reply(self, message: Json) -> Json:
        """The one reply the session itself gives to a request."""
        [event] = self.session.receive(message)
        assert isinstance(event, Send), event
        assert isinstance(event.message, dict)
        check(event.message, self.revision, message["method"])
        return event.message

    def open(
        self, method: str, params: Json | None = None, *, id: Any = 1, meta: Json | None = None
    ) -> Scope:
        """The scope in which a request is served."""
        [event] = self.session.receive(self.request(id, method, params, meta))
        assert isinstance(event, Serve), _plain(event)
        return event.scope

    def answer(self, method: str, result: Json, params: Json | None = None) -> Json:
        """The result of `method`, as it goes over the wire when its handler returns `result`."""
        scope = self.open(method, params)
        reply = self.session.finish(scope, result)
        assert isinstance(reply, dict)
        check(reply, self.revision, method)
        assert reply == {"jsonrpc": "2.0", "id": 1, "result": reply["result"]}
        return reply["result"]

    def refusal(self, method: str, error: McpError, params: Json | None = None) -> Json:
        """The error that `method` is answered with when its handler raises `error`."""
        reply = self.session.refuse(self.open(method, params), error)
        assert isinstance(reply, dict)
        check(reply, self.revision)
        assert reply == {"jsonrpc": "2.0", "id": 1, "error": reply["error"]}
        return reply["error"]
