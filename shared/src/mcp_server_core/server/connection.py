"""One peer over one channel: runs what the session decides and sends what comes of it."""

import logging
import os
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup

from ..channel import Channel, Resumable
from ..errors import ConnectionLost, InternalError, McpError, ToolError
from ..protocol.encode import encode_question
from ..protocol.messages import Json, RequestId, Response, failure, notification
from ..protocol.revisions import META_SUBSCRIPTION
from ..protocol.scope import Scope
from ..protocol.session import Answered, Cancel, Dropped, Event, Notified, Send, Serve, Session
from .outbox import Outbox
from .subscriptions import LIST_KINDS, Listener, ListKind

if TYPE_CHECKING:
    from ..places import Places
    from .app import Server
    from .asking import Question, Root

log = logging.getLogger("mcp_server_core")
MAX_IN_FLIGHT = 256
MAX_BACKLOG = 1024  # requests that were read and wait for their turn
MAX_LISTENERS = 64
GRACE = 1.0  # after the peer closed its side: time for calls in flight to be answered


class _Waiter:
    """Somebody who waits for an answer of the client."""

    __slots__ = ("event", "response")

    def __init__(self) -> None:
        self.event = anyio.Event()
        self.response: Response | None = None


class Connection:
    """Serves one peer until it is gone."""

    def __init__(self, server: "Server[Any]", channel: Channel, principal: str) -> None:
        self.server = server
        self.session: Session[_Waiter] = Session(server.profile, principal=principal)
        self.outbox = Outbox()
        self.listener = Listener(self.outbox.post)
        self.streams: dict[RequestId, anyio.Event] = {}
        self.name = os.urandom(8).hex()
        self._channel = channel
        self._roots: list[Root] | None = None
        self.roots_version = 0
        self.told_roots: list[Root] = []
        self._listeners: set[Listener] = {self.listener}
        self._serving: set[Scope] = set()
        self._backlog: deque[Scope] = deque()
        self._waiting: list[anyio.Event] = []
        self._roots_lock = anyio.Lock()

    async def run(self) -> None:
        """Serve until the peer closes the connection or the task is cancelled."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._send_notices)
                await self._read(tasks)
                await self._wind_down()
                tasks.cancel_scope.cancel()
        finally:
            self.server.subscriptions.drop(self.listener)

    async def _read(self, tasks: TaskGroup) -> None:
        session, receive = self.session, self._channel.receive
        try:
            while True:
                for event in session.receive(await receive()):
                    await self._handle(event, tasks)
                while len(self._backlog) >= MAX_BACKLOG and not session.waiting:
                    # The pipe fills, and the peer has to wait. Not while the server itself waits for an
                    # answer of the client: that answer must be read.
                    await self._next_step()
        except ConnectionLost:
            return

    def _busy(self) -> int:
        """Calls that are being served or whose answers wait to be sent. Listen streams do not count."""
        return len(self._serving) - len(self.streams)

    async def _start(self, scope: Scope, tasks: TaskGroup) -> None:
        """Serve a request now, or when there is room; cancellations and pings are heard all the while."""
        if self._busy() < MAX_IN_FLIGHT or scope.method == "subscriptions/listen":
            self._serving.add(scope)
            tasks.start_soon(self._serve, scope, tasks)
        elif len(self._backlog) < MAX_BACKLOG:
            self._backlog.append(scope)
        else:
            refusal = self.session.refuse(scope, InternalError("Too many requests at once"))
            if refusal is not None:
                await self.send(refusal, about=scope.id)

    async def _wind_down(self) -> None:
        """The peer sends no more. It may still read: give what is in flight a moment."""
        with anyio.move_on_after(GRACE):
            while self._busy() > 0:
                await self._next_step()

    async def _handle(self, event: Event, tasks: TaskGroup) -> None:
        match event:
            case Serve():
                await self._start(event.scope, tasks)
            case Send():
                await self.send(event.message)
                self.server.wake()
            case Cancel():
                if event.scope.runner is not None:
                    event.scope.runner.cancel()
                elif event.scope in self._backlog:
                    self._backlog.remove(event.scope)
            case Answered():
                event.waiter.response = event.response
                event.waiter.event.set()
            case Notified():
                self._notified(event.method, tasks)
            case Dropped():
                log.debug("dropped: %s", event.reason)

    def _notified(self, method: str, tasks: TaskGroup) -> None:
        if method == "notifications/initialized":
            # L-44: what nobody asked for goes only to clients that completed a handshake.
            handshake = self.session.handshake
            offered = {} if handshake is None else handshake.offered
            told: list[ListKind] = [kind for kind in LIST_KINDS if offered.get(kind, {}).get("listChanged")]
            self.server.subscriptions.add_lists(self.listener, told)
        elif method == "notifications/roots/list_changed":
            self._roots = None
            self.roots_version += 1
            if self.server.access.wants_roots and self.listener.places:
                self.listener.hold()
                tasks.start_soon(self._settle_roots)
            self._tell_resources_changed(self.listener)

    async def _serve(self, scope: Scope, tasks: TaskGroup) -> None:
        """Run one handler and send its answer, unless the peer has cancelled it meanwhile."""
        try:
            with anyio.CancelScope() as runner:
                scope.runner = runner
                if not scope.closed:
                    await self._answer(scope)
        finally:
            self._serving.discard(scope)
            self._step()
        self.server.wake()
        while self._backlog and self._busy() < MAX_IN_FLIGHT:
            await self._start(self._backlog.popleft(), tasks)

    async def _answer(self, scope: Scope) -> None:
        try:
            reply = self.session.finish(scope, await self.server.answer(self, scope))
        except McpError as error:
            reply = self.session.refuse(scope, error)
        if reply is None:
            return
        try:
            await self.send(reply, about=scope.id)
        except Exception:
            # Something in it is no JSON: that spoils this answer and no other.
            log.exception("the answer to %s cannot be written", scope.method)
            broken = [
                failure(item["id"], InternalError("Internal error"))
                for item in (reply if isinstance(reply, list) else [reply])
            ]
            await self.send(broken if isinstance(reply, list) else broken[0], about=scope.id)

    @property
    def principal(self) -> str:
        """Who the peer is, as far as that was proven."""
        return self.session.principal

    async def release_stream(self, scope: Scope, retry_ms: int) -> None:
        """Let go of the HTTP connection of a request, where there is one and the revision allows it."""
        if isinstance(self._channel, Resumable):
            await self._channel.release(scope.id, retry_ms)

    async def _next_step(self) -> None:
        """Wait until something in flight ends, or begins to wait for the client."""
        event = anyio.Event()
        self._waiting.append(event)
        await event.wait()

    def _step(self) -> None:
        for event in self._waiting:
            event.set()
        self._waiting.clear()

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Send a message; a peer that is gone is noticed by whoever reads."""
        try:
            await self._channel.send(message, about=about)
        except ConnectionLost:
            log.debug("the peer is gone")

    async def _send_notices(self) -> None:
        while (waiting := await self.outbox.take()) is not None:
            await self.send(waiting[1], about=waiting[0].subscription)

    # Subscriptions of the stateless era.

    async def listen(self, scope: Scope, accepted: Json, places: "Mapping[str, Places | None]") -> Json:
        """Hold a listen stream open until the client cancels it or the server stops (SU-1, SU-6)."""
        if len(self.streams) >= MAX_LISTENERS:
            raise McpError(f"At most {MAX_LISTENERS} subscriptions at once")
        listener = Listener(self.outbox.post, scope.id)
        ended = self.streams[scope.id] = anyio.Event()
        hub = self.server.subscriptions
        self._listeners.add(listener)
        try:
            # The acknowledgement takes the same way as the notices, so nothing can overtake it.
            listener.tell("notifications/subscriptions/acknowledged", {"notifications": accepted})
            hub.add_lists(listener, [kind for kind in LIST_KINDS if accepted.get(f"{kind}ListChanged")])
            for uri, found in places.items():
                hub.add_uri(listener, uri, found)
            await ended.wait()
        finally:
            hub.drop(listener)
            self._listeners.discard(listener)
            del self.streams[scope.id]
            if scope.closed:
                self.outbox.forget(listener)  # S-7: nothing more after a cancellation
        while (waiting := self.outbox.take_now()) is not None:
            await self.send(waiting[1], about=waiting[0].subscription)
        return {"_meta": {META_SUBSCRIPTION: scope.id}}

    async def end_streams(self) -> None:
        """End every listen stream as the specification wants it: the result, then `cancelled` (SU-7)."""
        ids = list(self.streams)
        for ended in list(self.streams.values()):
            ended.set()
        while any(scope.id in ids for scope in self._serving):
            await self._next_step()
        for id in ids:
            await self.send(notification("notifications/cancelled", {"requestId": id}))

    # What a change of the client's roots does to its subscriptions.

    async def _settle_roots(self) -> None:
        """Ask for the new roots, and let each subscription go on that is still inside the allowed places."""
        await self._settle(self.listener, self.listener.places, await self.roots(None))

    async def hear_roots(self, roots: "Sequence[Root]") -> None:
        """A stateless client told its roots: if they are others than before, its subscriptions follow them."""
        told = list(roots)
        if told == self.told_roots:
            return
        self.told_roots = told
        self.roots_version += 1
        streams = [each for each in self._listeners if each.subscription is not None]
        for listener in streams:
            listener.hold()
        for listener in streams:
            await self._settle(listener, listener.places, told)
            self._tell_resources_changed(listener)

    async def _settle(self, listener: Listener, uris: Iterable[str], roots: "Sequence[Root]") -> None:
        found: dict[str, Places | None] = {}
        version = self.roots_version
        for uri in list(uris):
            try:
                found[uri] = await self.server.watch_places(uri, roots)
            except ToolError:
                found[uri] = None
        if version == self.roots_version:  # else they changed again, and somebody else is at it
            self.server.subscriptions.settle(listener, found)

    def _tell_resources_changed(self, listener: Listener) -> None:
        """Which directories there are is part of the list of resources, where resources lie in places."""
        if "resources" in listener.lists and self.server.catalogue.in_places:
            listener.tell("notifications/resources/list_changed", {})

    # Questions to a handshake client.

    async def ask_all(self, questions: "Mapping[str, Question[Any]]", scope: Scope) -> dict[str, Any]:
        """Send every question at once and wait for all answers."""
        answers: dict[str, Any] = {}

        async def ask(key: str, question: "Question[Any]") -> None:
            answers[key] = question.read(await self._ask(question, scope))

        if len(questions) == 1:
            for key, question in questions.items():
                await ask(key, question)
            return answers
        first: Exception | None = None

        async def guarded(key: str, question: "Question[Any]") -> None:
            nonlocal first
            try:
                await ask(key, question)
            except Exception as error:  # noqa: BLE001 - the first one is raised below, outside the group
                first = first or error

        async with anyio.create_task_group() as tasks:
            for key, question in questions.items():
                tasks.start_soon(guarded, key, question)
        if first is not None:
            raise first
        return answers

    async def _ask(self, question: "Question[Any]", scope: Scope | None) -> Json:
        from .asking import refusal

        handshake = self.session.handshake
        assert handshake is not None, "only a handshake client can be asked directly"
        params = question.params
        if params is not None:
            params = encode_question(question.method, params, handshake.revision)
            if params.get("mode") == "url":
                params = {**params, "elicitationId": os.urandom(16).hex()}
        waiter = _Waiter()
        id, message = self.session.ask(question.method, params, waiter)
        self._step()
        about = None if scope is None else scope.id
        try:
            await self._channel.send(message, about=about)
            with anyio.move_on_after(question.timeout):
                await waiter.event.wait()
        except ConnectionLost as error:
            raise refusal(error) from None  # D-10: there is no way to ask, so nobody waits for an answer
        finally:
            withdrawn = self.session.abandon(id, "no longer needed")
            # One old client declares roots, never answers, and dies of a notification it does not know.
            if withdrawn is not None and question.kind != "roots":
                with anyio.CancelScope(shield=True), anyio.move_on_after(GRACE):
                    await self.send(withdrawn, about=about)
        if waiter.response is None:
            raise refusal(TimeoutError(f"no answer within {question.timeout:.0f} s"))
        if waiter.response.result is None:
            raise refusal(waiter.response.error or McpError("no result"))
        return waiter.response.result

    async def roots(self, scope: Scope | None) -> "list[Root]":
        """The client's roots, asked once and again after it says they changed (RO-6)."""
        async with self._roots_lock:  # calls at the same time ask once
            return await self._ask_roots(scope)

    async def _ask_roots(self, scope: Scope | None) -> "list[Root]":
        from .asking import Question

        while self._roots is None:
            question, version = Question.roots(), self.roots_version
            try:
                roots = question.read(await self._ask(question, scope))
            except ToolError:
                # A client that declares roots and does not answer is not asked again at every call.
                roots = []
            if version == self.roots_version:  # else they changed while the answer was on its way
                self._roots = roots
        return self._roots
