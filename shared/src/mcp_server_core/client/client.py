"""The client: opens a connection, finds out which era the server speaks, and asks it things."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import anyio

from ..channel import Channel
from ..errors import ConnectionLost, McpError, RequestTimeout
from ..protocol.encode import encode_implementation
from ..protocol.messages import Json, RequestId, notification
from ..protocol.revisions import (
    HANDSHAKE,
    META_CAPABILITIES,
    META_CLIENT,
    META_LOG_LEVEL,
    META_VERSION,
    STATELESS,
    LogLevel,
    Revision,
)
from ..protocol.unanswered import SessionGone
from .answers import Answers
from .changes import ChangeKind, Changes
from .link import Link, Opener
from .opening import Agreement, as_object, discover, means_handshake, shake_hands
from .peer import Peer, Progress
from .watches import Stream, Watches

Logged: TypeAlias = Callable[[str, Any], Awaitable[None]]
DEFAULT_TIMEOUT = 60.0
PROBE_TIMEOUT = 10.0
MAX_ROUNDS = 10  # MR-16
MAX_PAGES = 1000
_LAST_WORDS = 1.0
_ALL_LISTS: tuple[Literal["tools", "prompts", "resources"], ...] = ("tools", "prompts", "resources")


class Client:
    """Talks to one server, at any revision. Use it as an async context manager.

    Without `revision` it probes: stateless if the server is, else the handshake (L-46, L-47).
    """

    def __init__(
        self,
        opener: Opener,
        *,
        revision: Revision | None = None,
        name: str = "mcp-server-core",
        version: str = "0.1.0",
        answers: Answers | None = None,
        on_log: Logged | None = None,
        log_level: LogLevel | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        probe_timeout: float = PROBE_TIMEOUT,
    ) -> None:
        self._opener = opener
        self._wanted = revision
        self._info: Json = {"name": name, "version": version}
        self._answers = answers or Answers()
        self._on_log = on_log
        self._log_level: LogLevel | None = log_level
        self._timeout = timeout
        self._probe_timeout = probe_timeout
        self._watches = Watches()
        self._subscribed: dict[str, int] = {}
        self._subscribing = anyio.Lock()
        self._stack = AsyncExitStack()
        self._link: Link | None = None
        self._sessions = 0
        self._starting_over = anyio.Lock()
        self.revision: Revision = HANDSHAKE[0]
        """The revision both sides speak."""
        self.server: Json = {}
        """Who the server says it is."""
        self.capabilities: Json = {}
        """What the server says it can do."""
        self.instructions: str | None = None
        """What the server wants a model to know about it."""

    # Opening and closing.

    async def __aenter__(self) -> Self:
        self._tasks = await self._stack.enter_async_context(anyio.create_task_group())
        try:
            await self._connect()
            await self._open()
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def _close(self) -> None:
        await self._disconnect()
        self._tasks.cancel_scope.cancel()
        await self._stack.aclose()

    async def _connect(self) -> None:
        link = Link()
        await self._tasks.start(link.hold, self._opener, self._make_peer)
        self._link = link

    def _make_peer(self, channel: Channel) -> Peer:
        return Peer(
            channel,
            on_notification=self._receive,
            on_request=self._answer,
            on_lost=self._watches.end,
            on_forgotten=self._forgotten,
        )

    async def _disconnect(self) -> None:
        if self._link is not None:
            link, self._link = self._link, None
            await link.leave()

    @property
    def _peer(self) -> Peer:
        if self._link is None or self._link.peer is None:
            raise ConnectionLost("the client is not connected")
        return self._link.peer

    async def _open(self) -> None:
        if self._wanted is None:
            agreement = await self._probe() or await self._handshake(HANDSHAKE[0])
        elif self._wanted in HANDSHAKE:
            agreement = await self._handshake(self._wanted)
        else:
            agreement = await self._discover(self._timeout)
        await self._agree(agreement)

    async def _agree(self, agreement: Agreement) -> None:
        self.revision, self.server, self.capabilities, self.instructions = agreement
        if self._log_level is not None and not self.stateless and "logging" in self.capabilities:
            params = {"level": self._log_level}
            await self._peer.request("logging/setLevel", params, timeout=self._timeout)

    async def _probe(self) -> Agreement | None:
        """What a stateless server says of itself; None when the server is none (L-46, L-47)."""
        try:
            return await self._discover(self._probe_timeout)
        except McpError as error:
            if not means_handshake(error):
                raise
        except RequestTimeout:
            pass  # silence means an old server, too
        except ConnectionLost:
            if not self._peer.lost:
                raise  # only this request failed: the server is out of reach, or does not let us in
            # L-51: some old servers die of an unknown first request; start again and go straight to initialize.
            await self._disconnect()
            await self._connect()
        return None

    async def _discover(self, timeout: float) -> Agreement:
        self.revision = STATELESS[0]
        return await discover(self._peer, self._envelope(), timeout)

    async def _handshake(self, offered: Revision) -> Agreement:
        params: Json = {
            "protocolVersion": offered,
            "capabilities": self._answers.capabilities(offered),
            "clientInfo": encode_implementation(self._info, offered),
        }
        return await shake_hands(self._peer, params, self._timeout)

    async def _start_over(self, session: int) -> None:
        """Shake hands again with a server that has forgotten this session; one of those who noticed does it (H-25)."""
        async with self._starting_over:
            if session != self._sessions:
                return
            await self._agree(await self._handshake(self.revision))
            for uri in sorted(self._subscribed):
                await self._peer.request("resources/subscribe", {"uri": uri}, timeout=self._timeout)
            self._sessions += 1

    def _forgotten(self) -> None:
        self._tasks.start_soon(self._recover, self._sessions)

    async def _recover(self, session: int) -> None:
        try:
            await self._start_over(session)
        except (McpError, ConnectionLost, RequestTimeout):
            self._watches.end()

    @property
    def stateless(self) -> bool:
        """Whether each request stands alone."""
        return self.revision in STATELESS

    def _envelope(self) -> Json:
        meta: Json = {
            META_VERSION: self.revision,
            META_CAPABILITIES: self._answers.capabilities(self.revision),
            META_CLIENT: self._info,
        }
        if self._log_level is not None:
            meta[META_LOG_LEVEL] = self._log_level
        return meta

    # Asking.

    async def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Json:
        """Send any request and wait for its result; questions the server has on the way are answered."""
        given = dict(params or {})
        for _ in range(MAX_ROUNDS):
            result = await self._request_once(method, given, timeout or self._timeout, progress)
            kind = result.get("resultType", "complete")  # L-35
            if not self.stateless or kind == "complete":
                return result
            if kind != "input_required":
                raise McpError(f"The server answered with a result of unknown type {kind!r}")
            given = {**dict(params or {}), **await self._fulfil(result)}
        raise McpError(f"The server asked for more input {MAX_ROUNDS} times; giving up")

    async def _request_once(
        self, method: str, params: Json, timeout: float, progress: Progress | None
    ) -> Json:
        session = self._sessions
        try:
            return await self._ask(method, params, timeout, progress)
        except SessionGone:
            await self._start_over(session)
            return await self._ask(method, params, timeout, progress)

    async def _ask(self, method: str, params: Json, timeout: float, progress: Progress | None) -> Json:
        id = self._peer.next_id()
        meta: Json = dict(params.get("_meta", {}))
        if self.stateless:
            meta = {**self._envelope(), **meta}
        if progress is not None:
            meta["progressToken"] = id
        sent = {**params, "_meta": meta} if meta else params
        return await self._peer.request(method, sent or None, timeout=timeout, id=id, progress=progress)

    async def _fulfil(self, result: Json) -> Json:
        """Answer what an `input_required` result asks; what goes into the retry (MR-5, MR-6)."""
        retry: Json = {}
        questions = result.get("inputRequests")
        if questions is not None:
            retry["inputResponses"] = {
                key: await self._fulfil_one(question) for key, question in _questions(questions).items()
            }
        if "requestState" in result:
            retry["requestState"] = result["requestState"]
        return retry

    async def _fulfil_one(self, question: Any) -> Json:
        method, params = as_object(question).get("method"), as_object(question).get("params", {})
        if not isinstance(method, str) or not isinstance(params, dict):
            raise McpError("The server asked a question of unknown shape")
        return await self._answers.answer(method, params)

    async def _list(self, method: str, key: str) -> list[Json]:
        items: list[Json] = []
        cursor: dict[str, str] = {}
        for _ in range(MAX_PAGES):
            page = await self.request(method, cursor)
            found = page.get(key)
            if not isinstance(found, list):
                raise McpError(f"The server's answer to {method} holds no {key}")
            items += found
            if "nextCursor" not in page:  # PG-2: an empty cursor is a cursor
                return items
            cursor = {"cursor": page["nextCursor"]}
        raise McpError(f"The server's answer to {method} has more than {MAX_PAGES} pages; giving up")

    async def list_tools(self) -> list[Json]:
        """Every tool, all pages."""
        return await self._list("tools/list", "tools")

    async def list_resources(self) -> list[Json]:
        """Every resource with a fixed URI, all pages."""
        return await self._list("resources/list", "resources")

    async def list_resource_templates(self) -> list[Json]:
        """Every family of resources, all pages."""
        return await self._list("resources/templates/list", "resourceTemplates")

    async def list_prompts(self) -> list[Json]:
        """Every prompt, all pages."""
        return await self._list("prompts/list", "prompts")

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Json:
        """Call a tool. A failure inside it is a result with `isError`, not an exception."""
        params = {"name": name, "arguments": dict(arguments or {})}
        return await self.request("tools/call", params, timeout=timeout, progress=progress)

    async def read_resource(self, uri: str) -> list[Json]:
        """The contents of a resource."""
        return (await self.request("resources/read", {"uri": uri}))["contents"]

    async def get_prompt(self, name: str, arguments: Mapping[str, str] | None = None) -> Json:
        """A prompt with its arguments filled in."""
        return await self.request("prompts/get", {"name": name, "arguments": dict(arguments or {})})

    async def complete(
        self, reference: Mapping[str, str], argument: str, typed: str, chosen: Mapping[str, str] | None = None
    ) -> list[str]:
        """Suggestions for an argument of a prompt or a template."""
        params: Json = {"ref": dict(reference), "argument": {"name": argument, "value": typed}}
        if chosen:
            params["context"] = {"arguments": dict(chosen)}
        return (await self.request("completion/complete", params))["completion"]["values"]

    async def ping(self) -> None:
        """See whether the server answers; the stateless revision has `server/discover` for it."""
        await self.request("server/discover" if self.stateless else "ping")

    async def set_roots(self, roots: Sequence[str]) -> None:
        """Work in other places from now on; a handshake server is told."""
        self._answers.roots = list(roots)
        if not self.stateless:
            await self._peer.send(notification("notifications/roots/list_changed"))

    # Watching.

    @asynccontextmanager
    async def watch(
        self, *uris: str, lists: Iterable[Literal["tools", "prompts", "resources"]] = ()
    ) -> AsyncGenerator[Changes]:
        """Changes of resources and lists, as long as the block runs. When it begins, the watch is in place."""
        changes = Changes(frozenset(uris), frozenset[ChangeKind](lists))
        watch = self._listen(changes) if self.stateless else self._subscribe(changes)
        async with watch:
            yield changes

    @asynccontextmanager
    async def _subscribe(self, changes: Changes) -> AsyncGenerator[None]:
        counted: list[str] = []
        self._watches.add(changes)
        try:
            for uri in sorted(changes.uris):
                async with self._subscribing:  # a second watch waits until the first is in place
                    if uri not in self._subscribed:
                        await self.request("resources/subscribe", {"uri": uri})
                    self._subscribed[uri] = self._subscribed.get(uri, 0) + 1
                    counted.append(uri)
            yield
        finally:
            self._watches.remove(changes)
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                for uri in counted:
                    await self._unsubscribe(uri)

    async def _unsubscribe(self, uri: str) -> None:
        async with self._subscribing:
            self._subscribed[uri] -= 1
            if self._subscribed[uri] == 0:
                del self._subscribed[uri]
                with suppress(ConnectionLost, McpError, RequestTimeout):
                    await self.request("resources/unsubscribe", {"uri": uri})

    @asynccontextmanager
    async def _listen(self, changes: Changes) -> AsyncGenerator[None]:
        wanted: Json = {f"{kind}ListChanged": True for kind in _ALL_LISTS if kind in changes.lists}
        if changes.uris:
            wanted["resourceSubscriptions"] = sorted(changes.uris)
        id = self._peer.next_id()
        stream = self._watches.open(id, changes)
        self._tasks.start_soon(
            self._hold_stream, id, {"notifications": wanted, "_meta": self._envelope()}, stream
        )
        try:
            with anyio.move_on_after(self._timeout):
                await stream.opened.wait()
            if stream.failure is not None:
                raise stream.failure
            if not stream.opened.is_set():
                raise RequestTimeout(f"subscriptions/listen: not acknowledged within {self._timeout} s")
            yield
        finally:
            self._watches.close(id)
            stream.holding.cancel()
            with anyio.move_on_after(_LAST_WORDS, shield=True):
                await stream.left.wait()

    async def _hold_stream(self, id: RequestId, params: Json, stream: Stream) -> None:
        try:
            with stream.holding:
                await self._peer.request("subscriptions/listen", params, timeout=None, id=id)
        except (McpError, ConnectionLost) as error:
            stream.failure = error
        finally:
            stream.changes.end()
            stream.opened.set()
            stream.left.set()

    # What the server says.

    async def _receive(self, method: str, params: Json) -> None:
        if method != "notifications/message":
            self._watches.receive(method, params)
        elif self._on_log is not None:
            await self._on_log(str(params.get("level")), params.get("data"))

    async def _answer(self, method: str, params: Json) -> Json:
        if method == "ping":
            return {}
        return await self._answers.answer(method, params)


def _questions(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise McpError("The server asked for input of unknown shape")
    return value
