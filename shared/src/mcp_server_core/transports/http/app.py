"""The ASGI application: from a request's head to whoever answers it. The order of its checks is WIRE 2.5."""

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

from anyio.abc import TaskGroup

from ...channel import Service
from ...protocol.codec import encode
from ...protocol.http import Head, Refusal
from ..auth.access import Authorizer, Refused, Unavailable
from .answer import Answer, Receive, Send, Step
from .body import ClientGone, Room
from .doors import Doors
from .endpoint import Endpoint
from .minding import Pings
from .pair import Pair
from .sessions import Sessions
from .settings import HttpSettings

log = logging.getLogger("mcp_server_core")
access_log = logging.getLogger("mcp_server_core.access")
HEALTH, STREAM, MESSAGES = "/health", "/sse", "/messages"
GONE = 499  # in the log only: the client hung up before it was answered
LONGEST = 200  # characters of anything in the log that a client wrote
_ANYONE = [(b"access-control-allow-origin", b"*")]
_CLOSE = [(b"connection", b"close")]
_KEPT = ("type", "http_version", "client", "method", "path", "query_string")


class HttpApp:
    """Everything a server answers over HTTP."""

    def __init__(
        self,
        service: Service,
        settings: HttpSettings,
        tasks: TaskGroup,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._service = service
        self._doors = Doors(settings)
        self._authorizer = authorizer
        self._documents: Mapping[str, bytes] = {} if authorizer is None else authorizer.documents()
        self._sessions = Sessions(service, settings, tasks)
        pings = Pings(settings.ping_seconds)
        tasks.start_soon(pings.run)
        self._room = Room(max(settings.max_bodies, settings.max_body))
        self._endpoint = Endpoint(service, settings, self._sessions, pings, self._room)
        self._pair = Pair(service, settings, tasks, pings, self._room, MESSAGES)
        self._verbs = {settings.path: "POST, GET, DELETE" if settings.sessions else "POST"}
        if settings.sessions:
            self._verbs.update({STREAM: "GET", MESSAGES: "POST"})
            tasks.start_soon(self._sessions.sweep)
        self._path = settings.path
        self._draining = False

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        answer, began = Answer(send), perf_counter()
        if self._draining:
            answer.fields += _CLOSE
        try:
            step: Step = self._admit(scope, Head(scope["headers"]), receive, answer)
            while step is not None:
                step = await step
        except Refusal as refusal:
            # A body that was not read to its end would be taken for the next request.
            closing = _CLOSE if refusal.status in (413, 415, 406, 503) else []
            answer.said.setdefault("error", refusal.reply["error"]["message"])
            await answer.json(refusal.status, encode(refusal.reply), closing)
        except ClientGone:
            log.debug("a client hung up in the middle of its request")
        except Exception:
            log.exception("%s %s failed", scope["method"], self._shown(scope["path"]))
            if not answer.status:
                await answer.empty(500)
        finally:
            self._room.give_back(answer.held)
        if access_log.isEnabledFor(logging.INFO):
            self._log(scope, answer, perf_counter() - began)

    async def _admit(self, scope: dict[str, Any], head: Head, receive: Receive, answer: Answer) -> Step:
        """Everything that is checked before the body is read; then, who answers."""
        path, verb = scope["path"], scope["method"]
        if path == HEALTH:
            return self._health(verb, answer)
        if not self._doors.allows_host(head):
            return answer.empty(403)
        if path in self._documents:
            return self._document(verb, path, answer)
        if not self._doors.allows_origin(head):
            return answer.empty(403)
        if path.endswith("/"):
            path = path[:-1] or "/"  # people paste addresses either way
        verbs = self._verbs.get(path)
        if verbs is None:
            return answer.empty(404)
        if verb == "OPTIONS":
            return answer.empty(204, [(b"allow", verbs.encode()), *self._doors.preflight(head, verbs)])
        answer.fields += self._doors.cors(head)
        if verb not in verbs.split(", "):
            return answer.empty(405, [(b"allow", verbs.encode())])
        principal = ""
        if self._authorizer is not None:
            try:
                principal = await self._authorizer.check(head.fields.get(b"authorization"))
            except Refused as refused:
                challenge = [(b"www-authenticate", refused.challenge.encode("latin-1", "replace"))]
                return answer.empty(refused.status, [*challenge, *_CLOSE])
            except Unavailable:
                return answer.empty(503, [(b"retry-after", b"5"), *_CLOSE])
        _forget(scope)
        if path == self._path:
            return self._endpoint.handle(verb, head, receive, answer, principal)
        if path == STREAM:
            return self._pair.listen(receive, answer, principal)
        return self._pair.post(scope["query_string"], head, receive, answer, principal)

    async def _health(self, verb: str, answer: Answer) -> None:
        """For balancers: says whether to send more, and nothing else."""
        if verb not in ("GET", "HEAD"):
            await answer.empty(405, [(b"allow", b"GET, HEAD")])
        elif self._draining:
            await answer.json(503, b'{"status":"draining"}')
        else:
            await answer.json(200, b'{"status":"ok"}')

    async def _document(self, verb: str, path: str, answer: Answer) -> None:
        """What anybody may read without a token, from any page (A-14)."""
        if verb == "OPTIONS":
            await answer.empty(204, [*_ANYONE, (b"access-control-allow-headers", b"*")])
        elif verb == "GET":
            await answer.json(200, self._documents[path], _ANYONE)
        else:
            await answer.empty(405, [(b"allow", b"GET")])

    async def drain(self) -> None:
        """The server is told to stop: listeners get their last result, standing streams end, calls go on."""
        self._draining = True
        await self._service.stop()
        self._sessions.end_standing()
        self._pair.drain()

    async def close(self) -> None:
        """End what is left."""
        await self._sessions.end_all()
        await self._pair.end_all()
        if self._authorizer is not None:
            await self._authorizer.aclose()

    def _shown(self, path: str) -> str:
        return path if path in self._verbs else "another path"

    def _log(self, scope: dict[str, Any], answer: Answer, seconds: float) -> None:
        """One JSON object a line: no headers, no query, no content, so no token and no session id."""
        client = scope.get("client")
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "client": client[0] if client else None,
            "verb": scope["method"],
            "path": scope["path"][:LONGEST],
            "status": answer.status or GONE,
            "ms": round(seconds * 1000, 1),
            "stream": answer.started,
            **{name: text[:LONGEST] for name, text in answer.said.items()},
        }
        access_log.info(encode(line).decode())


def _forget(scope: dict[str, Any]) -> None:
    """Keep of a request what is still needed, by logs and by uvicorn, which looks whether the client said
    `connection: close`. The connection holds on to all of it, and a stream may stay for days.
    """
    kept = {name: scope[name] for name in _KEPT}
    kept["headers"] = [field for field in scope["headers"] if field[0] == b"connection"]
    scope["headers"].clear()
    scope.clear()
    scope.update(kept)
