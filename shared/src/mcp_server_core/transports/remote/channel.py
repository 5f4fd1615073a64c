"""A server somewhere else, reached by HTTP: whichever form of the transport it has, a client sees one channel.

Stateless requests go out alone; `initialize` opens a session, or finds the old transport where there is no
other (X-10). The HTTP library is loaded when a connection is opened.
"""

import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc

from ...channel import Channel
from ...errors import ConnectionLost, McpError, ParseError
from ...protocol.codec import Malformed
from ...protocol.lines import DEFAULT_LIMIT
from ...protocol.messages import Json, RequestId
from ...protocol.unanswered import Unanswered
from .access import Access, TokenProvider
from .annotations import claim
from .old import OldForm
from .replies import Refused
from .session import Session
from .stateless import Stateless

if TYPE_CHECKING:
    from .web import Web

log = logging.getLogger("mcp_server_core.client")
DEFAULT_TIMEOUT = 30.0
_BUFFERED = 16  # messages: a slow client slows the server down
_SAYS_NOTHING_OF_TRANSPORTS = frozenset({401, 403, 408, 429})


def http(
    url: str,
    *,
    token: TokenProvider | None = None,
    headers: Mapping[str, str] | None = None,
    limit: int = DEFAULT_LIMIT,
    timeout: float = DEFAULT_TIMEOUT,
) -> Callable[[], AbstractAsyncContextManager[Channel]]:
    """How to reach a server by its URL: give it to `Client`.

    `token` is asked for an access token before each request and after each refusal. `limit` bounds one message
    of the server. `timeout` bounds connecting, and what needs no answer; how long an answer may take, the client says.
    """
    return partial(_open, url, token, dict(headers or {}), limit, timeout)


@asynccontextmanager
async def _open(
    url: str, token: TokenProvider | None, headers: Mapping[str, str], limit: int, timeout: float
) -> AsyncGenerator[Channel]:
    from .web import open_web

    async with (
        open_web(url, Access(token), headers, limit, timeout) as web,
        anyio.create_task_group() as tasks,
    ):
        channel = HttpChannel(web, tasks, timeout)
        try:
            yield channel
        finally:
            with anyio.CancelScope(shield=True):
                await channel.close()
            tasks.cancel_scope.cancel()


class HttpChannel:
    """One server behind a URL. Each request is a task of its own; what comes back is received in one place."""

    def __init__(self, web: "Web", tasks: anyio.abc.TaskGroup, timeout: float) -> None:
        self._web = web
        self._tasks = tasks
        self._timeout = timeout
        self._put, self._inbox = anyio.create_memory_object_stream[Any](_BUFFERED)
        self._calls: dict[RequestId, _Call] = {}
        self._stateless = Stateless(web, self._deliver)
        self._form: Session | OldForm | None = None
        self._closed = False

    async def receive(self) -> Any:
        """The next message, or an `Unanswered` where a response should be."""
        try:
            return await self._inbox.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise ConnectionLost("the connection is closed") from None

    async def _deliver(self, message: Any) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # nobody receives any more
            await self._put.send(message)

    async def send(self, message: Json | list[Json], *, about: RequestId | None = None) -> None:
        """Send a message. A request is on its way when this returns; anything else has arrived."""
        if self._closed:
            raise ConnectionLost("the connection is closed")
        if isinstance(message, list):
            for item in message:
                await self.send(item)
        elif "method" in message and "id" in message:
            call = self._calls[message["id"]] = _Call(claim(message))
            self._tasks.start_soon(self._run, message, call)
        elif message.get("method") == "notifications/cancelled":
            await self._cancel(message)
        elif self._form is not None:
            await self._say(self._form, message)
        else:
            log.debug("%s has no place in a stateless conversation", message.get("method"))  # N-4

    async def _say(self, form: Session | OldForm, message: Json) -> None:
        try:
            with anyio.fail_after(self._timeout):
                await form.say(message)
        except TimeoutError:
            raise ConnectionLost(f"the server did not take a message within {self._timeout} s") from None

    async def _cancel(self, message: Json) -> None:
        call = self._calls.get(message["params"]["requestId"])
        if self._form is not None and (call is None or call.revision is None):
            await self._say(self._form, message)
        if call is not None:
            call.scope.cancel()  # N-9: closing the stream is what cancels a stateless request

    async def _run(self, message: Json, call: "_Call") -> None:
        id: RequestId = message["id"]
        try:
            with call.scope:
                await self._ask(message, call.revision)
        except ParseError as error:
            await self._deliver(Malformed(error.message))
            await self._deliver(
                Unanswered(id, ConnectionLost(f"the reply to {message['method']} cannot be read"))
            )
        except (McpError, ConnectionLost) as error:
            await self._deliver(Unanswered(id, error))
        finally:
            if self._calls.get(id) is call:
                del self._calls[id]

    async def _ask(self, message: Json, revision: str | None) -> None:
        if revision is not None:
            await self._stateless.ask(message, revision)
        elif message["method"] == "initialize":
            await self._initialize(message)
        else:
            if self._form is None:
                self._form = Session(self._web, self._deliver, self._tasks)
            await self._form.ask(message)

    async def _initialize(self, message: Json) -> None:
        if self._form is not None:
            self._form.retire()
        self._form = session = Session(self._web, self._deliver, self._tasks)
        try:
            await session.ask(message)
        except Refused as refusal:
            if not 400 <= refusal.code < 500 or refusal.code in _SAYS_NOTHING_OF_TRANSPORTS:
                raise
            self._form = await self._find_old_form(refusal)
            await self._form.ask(message)

    async def _find_old_form(self, refusal: Refused) -> OldForm:
        """The old transport behind the same URL; the first refusal, if there is none."""
        form = OldForm(self._web, self._deliver)
        try:
            with anyio.fail_after(self._timeout):
                await self._tasks.start(self._hold, form)
        except (Refused, TimeoutError):
            form.retire()
            raise refusal from None
        return form

    async def _hold(self, form: OldForm, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        await form.hold(task_status=task_status)
        if self._form is form:
            self._put.close()  # without its stream the old transport is gone

    async def close(self) -> None:
        """Give up all requests, end the session, and let `receive` end."""
        if self._closed:
            return
        self._closed = True
        for call in self._calls.values():
            call.scope.cancel()
        if self._form is not None:
            await self._form.close()
        self._put.close()
        self._inbox.close()


class _Call:
    """A request on its way; `revision` is the one it claims, None in the handshake era."""

    __slots__ = ("revision", "scope")

    def __init__(self, revision: str | None) -> None:
        self.revision = revision
        self.scope = anyio.CancelScope()
