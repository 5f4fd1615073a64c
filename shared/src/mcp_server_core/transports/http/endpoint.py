"""The MCP endpoint: enveloped requests are answered one by one, everything else belongs to a session."""

import asyncio
import logging
from typing import Any

import anyio

from ...channel import Reply, Service
from ...errors import InternalError, InvalidRequest, UnsupportedVersion
from ...protocol.codec import encode
from ...protocol.http import (
    SESSION,
    VERSION,
    Accepts,
    Enveloped,
    Head,
    Ignored,
    Opening,
    Refusal,
    Within,
    is_json,
    read_accept,
    read_post,
    refuse_unanswerable,
    request_ids,
    status_of,
)
from ...protocol.messages import Json, Request, failure
from ...protocol.mirror import Mirror
from ...protocol.revisions import REVISIONS, STATELESS
from ...protocol.session import refuse_array
from .answer import Answer, Receive, Step
from .body import Room, read_body
from .carrying import Carrier
from .minding import Minder, Pings
from .session import HttpSession
from .sessions import Sessions
from .settings import HttpSettings

log = logging.getLogger("mcp_server_core")
SESSION_GONE = "There is no such session (any more). Start over with `initialize`."
_RETRY_SOON = [(b"retry-after", b"1")]


class Endpoint:
    """Streamable HTTP, both forms, for one server."""

    def __init__(
        self, service: Service, settings: HttpSettings, sessions: Sessions, pings: Pings, room: Room
    ) -> None:
        self._service = service
        self._settings = settings
        self._sessions = sessions
        self._pings = pings
        self._room = room
        self._turns = asyncio.Semaphore(settings.max_calls)
        self._waiting = 0
        self._listeners = 0

    def handle(self, verb: str, head: Head, receive: Receive, answer: Answer, principal: str) -> Step:
        """Answer one request to the endpoint; Refusal for what is not to be served."""
        if verb == "POST":
            return self._post(head, receive, answer, principal)
        if not self._settings.sessions or head.text(VERSION) in STATELESS:
            return answer.empty(405, [(b"allow", b"POST")])  # N-11
        if verb == "GET":
            return self._get(head, receive, answer, principal)
        return self._delete(head, answer, principal)

    async def _delete(self, head: Head, answer: Answer, principal: str) -> None:
        await self._sessions.end(self._find(head, principal))
        await answer.empty(204)  # H-27

    async def _post(self, head: Head, receive: Receive, answer: Answer, principal: str) -> Step:
        if not is_json(head):
            raise Refusal(415, InvalidRequest("The body of a POST is application/json"))  # D-2
        accepts = read_accept(head)
        if not (accepts.json or accepts.events):
            raise Refusal(406, InvalidRequest("Accept application/json and text/event-stream"))
        post = read_post(await read_body(receive, head, self._settings.max_body, self._room, answer), head)
        match post:
            case Enveloped():
                answer.said = {"rpc": post.request.method}
                mirror = Mirror(head.fields, head.repeated)
                return self._exchange(post.request, mirror, accepts, receive, answer, principal)
            case Opening():
                answer.said = {"rpc": post.request.method}
                self._check_unopened(post.request, head, principal)
                return self._open(post.request, accepts, answer, principal)
            case Within():
                answer.said = {"rpc": _method(post.value)}
                return self._within(post, head, accepts, receive, answer, principal)
            case Ignored():
                return answer.empty(202)  # N-4, CN-7

    # The stateless form.

    async def _exchange(
        self,
        request: Request,
        mirror: Mirror | None,
        accepts: Accepts,
        receive: Receive,
        answer: Answer,
        principal: str,
    ) -> None:
        listens = request.method == "subscriptions/listen"
        if listens and not accepts.events:
            raise Refusal(406, InvalidRequest("A listen stream is text/event-stream"), request.id)

        async def say(message: Json) -> None:
            if accepts.events:
                await answer.event(encode(message))

        reply: Reply | None = None
        with anyio.CancelScope() as work:
            minder = Minder(receive, work, answer, self._pings, streams=accepts.events)
            try:
                await self._take_turn(request, listens=listens)
                try:
                    serving = self._service.exchange(request, say, mirror=mirror, principal=principal)
                    mirror = None  # a stream that stays open does not need it
                    reply = await serving
                finally:
                    self._give_turn(listens=listens)
            finally:
                minder.stop()
        if reply is not None:  # else the client hung up, which cancelled the work (N-9)
            await self._reply(reply, request, accepts, answer)

    async def _reply(self, reply: Reply, request: Request, accepts: Accepts, answer: Answer) -> None:
        error = reply.error
        try:
            data = encode(reply.message)
        except Exception:
            # Something in it is no JSON: that is a bug of the tool, and the client is told as much.
            log.exception("the answer to %s cannot be written", request.method)
            error = InternalError("Internal error")
            data = encode(failure(request.id, error))
        status = status_of(error, opened=reply.opened)
        if answer.started or (not accepts.json and status == 200):
            await answer.event(data)
            await answer.end()
        else:
            await answer.json(status, data)

    async def _take_turn(self, request: Request, *, listens: bool) -> None:
        if listens:
            if self._listeners >= self._settings.max_listeners:
                raise Refusal(503, InternalError("Too many subscriptions at once"), request.id)
            self._listeners += 1
            return
        if self._turns.locked() and self._waiting >= self._settings.max_waiting:
            raise Refusal(503, InternalError("Too many requests at once"), request.id)
        self._waiting += 1
        try:
            await self._turns.acquire()
        finally:
            self._waiting -= 1

    def _give_turn(self, *, listens: bool) -> None:
        if listens:
            self._listeners -= 1
        else:
            self._turns.release()

    # The session form.

    def _check_unopened(self, request: Request, head: Head, principal: str) -> None:
        id = head.text(SESSION)
        if id is not None and self._sessions.find(id, principal) is not None:
            raise Refusal(400, InvalidRequest("Already initialized"), request.id)  # L-16

    async def _open(self, request: Request, accepts: Accepts, answer: Answer, principal: str) -> None:
        if not self._settings.sessions:
            # L-45: the error names what is spoken here.
            asked = request.params.get("protocolVersion")
            error = UnsupportedVersion(asked if isinstance(asked, str) else "", STATELESS)
            raise Refusal(400, error, request.id)
        session = await self._sessions.open(principal)
        if session is None:
            await answer.empty(503, _RETRY_SOON)
            return
        value: Json = {"jsonrpc": "2.0", "id": request.id, "method": request.method, "params": request.params}
        stream = session.deliver(value, takes_events=accepts.events)
        assert stream is not None, "`initialize` is a request"
        while not stream.ended:
            await stream.wait()
        data = stream.after(0)
        if session.revision is None or data is None:
            await self._sessions.end(session)  # it was refused: there is no session
        else:
            answer.fields.append((SESSION, session.id.encode()))  # H-18
        if data is None:
            raise Refusal(503, InternalError("The server is stopping"), request.id)
        if accepts.json:
            await answer.json(200, data)
        else:
            await answer.event(data)
            await answer.end()

    async def _within(
        self, post: Within, head: Head, accepts: Accepts, receive: Receive, answer: Answer, principal: str
    ) -> None:
        session = self._find(head, principal, post.value)
        if isinstance(post.value, list):
            refused = refuse_array(post.value, session.revision) or refuse_unanswerable(post.value)
            if refused is not None:
                raise Refusal(400, refused)
        stream = session.deliver(post.value, takes_events=accepts.events)
        if stream is None:
            await answer.empty(202)  # H-4
            return
        carrier = Carrier(stream, answer, receive, self._pings, json=accepts.json, ids=True)
        await carrier.carry(0, primed=session.polls)
        if stream.ended and stream.shown:
            session.keep(stream)
        elif not answer.status:
            if session.closed:
                raise _gone(post.value)
            await answer.empty(202)  # it was cancelled: there is nothing to say

    async def _get(self, head: Head, receive: Receive, answer: Answer, principal: str) -> None:
        if not read_accept(head).events:
            raise Refusal(406, InvalidRequest("A standing stream is text/event-stream"))
        session = self._find(head, principal)
        last_seen = head.text(b"last-event-id")
        if last_seen is None:
            # H-17: a second standing stream takes the place of the first.
            stream, position = session.standing, session.standing.read
        else:
            resumed = session.resume(last_seen)
            if resumed is None:
                raise Refusal(400, InvalidRequest("That event is not known here (any more)"))  # H-41
            stream, position = resumed
        carrier = Carrier(stream, answer, receive, self._pings, json=False, ids=True)
        await carrier.carry(position, primed=session.polls and last_seen is None)
        if stream.ended and stream is not session.standing:
            session.keep(stream)

    def _find(self, head: Head, principal: str, value: Any = None) -> HttpSession:
        """The session that a request names; 404 tells its client to start over (H-24, H-25)."""
        version = head.text(VERSION)
        if version is not None and version not in REVISIONS:
            raise Refusal(400, UnsupportedVersion(version, STATELESS))  # H-30
        id = head.text(SESSION)
        if id is None:
            raise Refusal(400, InvalidRequest("The header Mcp-Session-Id is missing"))  # H-22
        session = self._sessions.find(id, principal)
        if session is None:
            raise _gone(value)
        return session


def _gone(value: Any) -> Refusal:
    ids = request_ids(value)
    return Refusal(404, InvalidRequest(SESSION_GONE), ids[0] if isinstance(value, dict) and ids else None)


def _method(value: Any) -> str:
    return value.get("method", "response") if isinstance(value, dict) else "batch"
