"""The client's end of a channel: sends requests, matches answers, hands everything else on."""

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeAlias

import anyio

from ..channel import Channel
from ..errors import ConnectionLost, InternalError, McpError, RequestTimeout
from ..protocol.codec import Malformed
from ..protocol.messages import (
    Json,
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
from ..protocol.unanswered import SessionGone, Unanswered

log = logging.getLogger("mcp_server_core.client")
_LAST_WORDS = 1.0


Progress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
OnNotification: TypeAlias = Callable[[str, Json], Awaitable[None]]
OnRequest: TypeAlias = Callable[[str, Json], Awaitable[Json]]
MAX_REPORTS = 1000  # kept for a caller that is slow to hear them


class _Pending:
    """A request that waits for its answer, and what was reported on the way."""

    __slots__ = ("failure", "progress", "reports", "response", "step")

    def __init__(self, progress: Progress | None) -> None:
        self.progress = progress
        self.reports: deque[Json] = deque(maxlen=MAX_REPORTS)
        self.response: Response | None = None
        self.failure: Exception | None = None
        self.step = anyio.Event()

    async def wait(self) -> None:
        """Wait for the answer. Reports are handed on here, in the task of whoever asked, before the answer."""
        while True:
            while self.reports:
                report = self.reports.popleft()
                await self._hand_on(report)
            if self.response is not None or self.failure is not None:
                return
            self.step = anyio.Event()
            await self.step.wait()

    async def _hand_on(self, report: Json) -> None:
        if self.progress is not None:
            try:
                await self.progress(report["progress"], report.get("total"), report.get("message"))
            except Exception:  # the answer is still wanted
                log.exception("a progress callback failed")


class Peer:
    """One connection, seen from the client. `run` must be running while requests are made."""

    def __init__(
        self,
        channel: Channel,
        *,
        on_notification: OnNotification,
        on_request: OnRequest,
        on_lost: Callable[[], None],
        on_forgotten: Callable[[], None],
    ) -> None:
        self._channel = channel
        self._on_notification = on_notification
        self._on_request = on_request
        self.answers_requests = True  # S-6: a stateless client writes no responses
        self._on_lost = on_lost
        self._on_forgotten = on_forgotten
        self._pending: dict[RequestId, _Pending] = {}
        self._serving: dict[RequestId, anyio.CancelScope] = {}
        self._last_id = 0
        self.lost = False
        """Whether the connection as a whole is gone."""

    async def run(self) -> None:
        """Read until the server is gone; every request that still waits then fails."""
        try:
            async with anyio.create_task_group() as tasks:
                try:
                    while True:
                        value = await self._channel.receive()
                        for item in value if isinstance(value, list) else (value,):
                            await self._receive(item, tasks)
                except ConnectionLost:
                    tasks.cancel_scope.cancel()
        finally:
            self.lost = True
            for pending in self._pending.values():
                pending.failure = ConnectionLost("the server went away before it answered")
                pending.step.set()
            self._on_lost()

    async def _receive(self, value: Any, tasks: anyio.abc.TaskGroup) -> None:
        if isinstance(value, Malformed):
            log.warning("the server sent something that is no message: %s", value.reason)
            return
        if isinstance(value, Unanswered):
            self._fail(value)
            return
        match classify(value):
            case Response() as response:
                pending = self._pending.pop(response.id, None)
                if pending is not None:  # CN-3: a late answer is ignored
                    pending.response = response
                    pending.step.set()
            case Request() as asked:
                if self.answers_requests:
                    tasks.start_soon(self._answer, asked)
                else:
                    log.warning("a stateless server sent a request: %s", asked.method)
            case Notification(method="notifications/cancelled") as notice if self._withdraw(notice.params):
                pass  # it was a question of the server's; anything else ends a listen stream
            case Notification(method="notifications/progress") as notice:
                self._report(notice.params)
            case Notification() as notice:
                try:
                    await self._on_notification(notice.method, notice.params)
                except Exception:  # a callback of the user's
                    log.exception("%s could not be handled", notice.method)
            case invalid:
                log.warning("the server sent something that is no message: %s", invalid.error.message)

    def _fail(self, news: Unanswered) -> None:
        """One request will not be answered; without an id, the server has forgotten us altogether."""
        pending = None if news.id is None else self._pending.pop(news.id, None)
        if pending is not None:
            pending.failure = news.error
            pending.step.set()
        elif news.id is None and isinstance(news.error, SessionGone):
            self._on_forgotten()

    def _withdraw(self, params: Json) -> bool:
        """Stop answering a question that the server takes back."""
        id = params.get("requestId")
        scope = self._serving.get(id) if isinstance(id, int | str) else None
        if scope is not None:
            scope.cancel()
        return scope is not None

    def _report(self, params: Json) -> None:
        """Progress, if it is well-formed and somebody waits for it: the token is the id of the request."""
        token, done = params.get("progressToken"), params.get("progress")
        pending = self._pending.get(token) if isinstance(token, int | str) else None
        if pending is None or not isinstance(done, int | float):
            return
        pending.reports.append(params)
        pending.step.set()

    async def _answer(self, asked: Request) -> None:
        with anyio.CancelScope() as scope:
            self._serving[asked.id] = scope
            try:
                reply = success(asked.id, await self._on_request(asked.method, asked.params))
            except McpError as error:
                reply = failure(asked.id, error)
            except Exception:
                log.exception("%s failed", asked.method)
                reply = failure(asked.id, InternalError("Internal error"))
            finally:
                del self._serving[asked.id]
            with suppress(ConnectionLost):
                await self.send(reply)

    async def send(self, message: Json) -> None:
        """Send a message; raises ConnectionLost when the server is gone."""
        await self._channel.send(message)

    def next_id(self) -> int:
        """An id that was never used on this connection (J-3)."""
        self._last_id += 1
        return self._last_id

    async def request(
        self,
        method: str,
        params: Json | None,
        *,
        timeout: float | None,
        id: RequestId | None = None,
        progress: Progress | None = None,
    ) -> Json:
        """Send a request and wait for its result. McpError, RequestTimeout or ConnectionLost say what went wrong."""
        if self.lost:
            raise ConnectionLost("the server is gone")
        id = self.next_id() if id is None else id
        pending = self._pending[id] = _Pending(progress)
        try:
            with anyio.move_on_after(timeout):
                await self._channel.send(request(id, method, params))
                await pending.wait()
        except ConnectionLost:
            self.lost = True  # known here before whoever reads sees the end
            raise
        finally:
            await self._give_up(id, method)
        response = pending.response
        if pending.failure is not None:
            raise pending.failure
        if response is None:
            raise RequestTimeout(f"{method}: no answer within {timeout} s")
        if response.error is not None or response.result is None:
            raise response.error or McpError(f"{method} was answered with nothing")
        return response.result

    async def _give_up(self, id: RequestId, method: str) -> None:
        """Tell the server that nobody waits any more: after a timeout, or when the caller was cancelled."""
        waited = self._pending.pop(id, None) is not None
        if not waited or self.lost or method == "initialize":  # L-13
            return
        with anyio.move_on_after(_LAST_WORDS, shield=True):
            try:
                await self._channel.send(notification("notifications/cancelled", {"requestId": id}))
            except ConnectionLost:
                return
