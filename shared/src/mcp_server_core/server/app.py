"""A server: who it is, what it is made of, and how long its state lives."""

import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast, get_type_hints

import anyio
import anyio.lowlevel

from ..budgets import MAX_RESULT_CHARS
from ..channel import Channel, Reply
from ..errors import LocalProtocolError, ToolError
from ..protocol.messages import Json, Request
from ..protocol.profile import CacheHint, Profile
from ..protocol.scope import Scope
from ..protocol.stateless import Stateless
from .access import Access
from .calling import Handler
from .catalogue import Catalogue, Selection
from .connection import Connection
from .context import Context, is_context
from .dispatch import Call, answer
from .registry import Registry
from .subscriptions import LIST_KINDS, Subscriptions
from .threads import Threads

if TYPE_CHECKING:
    from ..places import Grant, Places
    from ..protocol.mirror import Mirror
    from ..protocol.sealing import Sealer
    from .asking import Root
    from .caller import Caller
    from .exchange import Exchange

log = logging.getLogger("mcp_server_core")
S = TypeVar("S")
Background: TypeAlias = Callable[["Server[S]", S], Awaitable[None]]
PAGE_SIZE = 1000  # short lists are never paged: some old clients read only the first page
CLOSING_TIME = 1.0
_OPENING_TIME = 3.0  # for a look at the allowed directories
_MOST_HANGING = 8  # directories that may hang at the same time


class Server(Generic[S]):
    """An MCP server, whatever it is connected to.

    `state` opens what the handlers share (a database, a folder): an async context manager, entered after the
    first answer went out and left when the server stops. `background` tasks run as long as it is open.
    `grants` are the directories the operator allows, or a function that names them when they are first needed;
    `await ctx.places()` is what they come to for one client.
    """

    def __init__(
        self,
        name: str,
        *,
        version: str,
        title: str | None = None,
        instructions: str | None = None,
        state: Callable[[], AbstractAsyncContextManager[S]] | None = None,
        parts: Sequence[Registry] = (),
        background: Sequence[Background[S]] = (),
        grants: "Sequence[Grant] | Callable[[], Sequence[Grant]]" = (),
        cache: CacheHint = CacheHint(),  # noqa: B008 - a NamedTuple does not change
        page_size: int = PAGE_SIZE,
        max_result_chars: int = MAX_RESULT_CHARS,
        sealer: "Sealer | None" = None,
    ) -> None:
        info: Json = {"name": name, "version": version}
        if title is not None:
            info["title"] = title
        self.page_size = page_size
        self.max_result_chars = max_result_chars
        self.access = Access(grants)
        self.threads = Threads()
        self.subscriptions = Subscriptions(self._watch_changed)
        self._parts = list(parts)
        self._selection = Selection()
        self.catalogue = Catalogue(self._parts, self._selection)
        self.profile = Profile(info, lambda: self.catalogue.capabilities, instructions, cache)
        self._state = state
        self._background = tuple(background)
        self._sealer = sealer
        self._life: _Life | None = None
        self._connections: set[Connection] = set()
        self._stateless: Stateless | None = None
        self.listening: set[Exchange] = set()
        """Listen streams that came alone, over HTTP."""
        self._watch_events: set[anyio.Event] = set()
        self._helpers: dict[Callable[..., Any], _Helper] = {}

    @property
    def name(self) -> str:
        """The name the server gives itself."""
        return self.profile.info["name"]

    @property
    def version(self) -> str:
        """The version the server gives itself."""
        return self.profile.info["version"]

    # What it offers.

    def select(self, selection: Selection) -> None:
        """Offer only what the operator lets through. Done before serving."""
        everything = Catalogue(self._parts, Selection())
        unknown = selection.named() - everything.tools.keys()
        if unknown:
            known = ", ".join(everything.tools)
            raise ValueError(f"no tool is called {', '.join(sorted(unknown))}; there are: {known}")
        self._selection = selection
        self.catalogue = Catalogue(self._parts, selection)

    async def add(self, part: Registry) -> None:
        """Offer one more part from now on; clients are told which lists changed."""
        await self._set_parts([*self._parts, part], part)

    async def remove(self, part: Registry) -> None:
        """Take a part back; clients are told which lists changed."""
        await self._set_parts([kept for kept in self._parts if kept is not part], part)

    async def _set_parts(self, parts: list[Registry], changed: Registry) -> None:
        self.catalogue = Catalogue(parts, self._selection)
        self._parts = parts
        touched = {
            "tools": changed.tools,
            "prompts": changed.prompts,
            "resources": changed.resources or changed.listers,
        }
        for kind in LIST_KINDS:
            if touched[kind]:
                self.subscriptions.publish_list_changed(kind)
        await anyio.lowlevel.checkpoint()

    async def changed(self, uri: str) -> None:
        """Tell everyone who watches this resource that it changed."""
        self.subscriptions.publish_updated(uri)
        await anyio.lowlevel.checkpoint()

    async def resources_changed(self) -> None:
        """Tell everyone who wants to know that the list of resources changed."""
        self.subscriptions.publish_list_changed("resources")
        await anyio.lowlevel.checkpoint()

    async def places(self, roots: "Sequence[Root]") -> "Places":
        """The allowed places of a caller with these roots."""
        uris = tuple(root.uri for root in roots)
        known = self.access.known(uris)
        if known is not None:
            return known
        for _ in range(_MOST_HANGING):
            with anyio.move_on_after(_OPENING_TIME):
                return await self.threads.run(self.access.places, uris)
            # A directory hangs. The next attempt knows which, and leaves it out until it answers.
        raise ToolError("The allowed directories do not answer: check their disks, or try again later.")

    async def watch_places(self, uri: str, roots: "Sequence[Root]") -> "Places | None":
        """The places in which a watched resource lies, None if it needs none; a ToolError if it is outside."""
        found = self.catalogue.find_resource(uri)
        if found is None or found[0].entry.admit is None:
            return None
        places = await self.places(roots)
        await found[0].entry.admit(await self.opened(), places, uri)
        return places

    def may_watch(self, uri: str) -> bool:
        """Whether a URI names something that can be subscribed to."""
        found = self.catalogue.find_resource(uri)
        return found is not None and found[0].entry.watch

    async def watching(self) -> AsyncIterator[frozenset[str]]:
        """What is watched, now and after each change of it: lets a background task watch just that."""
        while True:
            event = anyio.Event()
            self._watch_events.add(event)
            try:
                yield self.subscriptions.uris
                await event.wait()
            finally:
                self._watch_events.discard(event)

    def _watch_changed(self) -> None:
        for event in self._watch_events:
            event.set()

    # Its life.

    async def serve(self, channel: Channel, *, principal: str = "") -> None:
        """Serve one peer until it is gone. Opens and closes the state unless `running` holds it open.

        Several peers at once share a state, so they need `async with server.running()` around them.
        """
        if self._life is None:
            async with self._alive(_Life(shared=False)):
                await self._serve(channel, principal)
        elif not self._life.shared:
            raise LocalProtocolError("to serve several peers at once, hold `server.running()` around them")
        else:
            await self._serve(channel, principal)

    async def _serve(self, channel: Channel, principal: str) -> None:
        connection = Connection(self, channel, principal)
        self._connections.add(connection)
        try:
            await connection.run()
        finally:
            self._connections.discard(connection)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Open the state now, and keep it open over many connections."""
        life = _Life(shared=True)
        life.wanted.set()
        async with self._alive(life):
            yield

    @asynccontextmanager
    async def _alive(self, life: "_Life") -> AsyncGenerator[None]:
        if self._life is not None:
            raise LocalProtocolError("this server is running already")
        self._life = life
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._hold_state, life)
                try:
                    yield
                finally:
                    life.stop.set()
                    life.wanted.set()
                    with anyio.move_on_after(CLOSING_TIME, shield=True):
                        await life.closed.wait()
                    life.holding.cancel()
        finally:
            self._life = None

    def exchange(
        self,
        request: Request,
        say: Callable[[Json], Awaitable[None]],
        *,
        mirror: "Mirror | None" = None,
        principal: str = "",
    ) -> Awaitable[Reply]:
        """Serve one enveloped request that has no connection behind it, inside `async with server.running()`."""
        from .exchange import Exchange

        if self._stateless is None:
            self._stateless = Stateless(self.profile)
        return Exchange(self, self._stateless, say, principal).run(request, mirror)

    async def stop(self) -> None:
        """End every listen stream politely, before the connections are closed (SU-6)."""
        for exchange in list(self.listening):
            exchange.end()
        for connection in list(self._connections):
            await connection.end_streams()

    def wake(self) -> None:
        """The first answer is out: now the state may be opened."""
        if self._life is not None:
            self._life.wanted.set()

    async def opened(self) -> S:
        """The state; waits until it is open. A ToolError says why it could not be opened."""
        if self._state is None:
            return cast("S", None)
        if self._life is None:
            raise LocalProtocolError("the server is not running")
        if (
            not self._life.ready.is_set()
        ):  # asking costs a turn of the event loop, and every call comes by here
            self._life.wanted.set()
            await self._life.ready.wait()
        failure = self._life.failure
        if failure is not None:
            reason = str(failure) if isinstance(failure, ToolError) else "the server's log says why"
            raise ToolError(f"{self.name} could not start: {reason}")
        return self._life.state

    async def _hold_state(self, life: "_Life") -> None:
        """Enter and leave the state in one task, as cancel scopes demand.

        Shielded: when serving is cancelled, the state still has a moment to close properly.
        """
        with life.holding:
            try:
                await life.wanted.wait()
                if not life.stop.is_set():
                    await self._open_state(life)
            except Exception as error:  # told to whoever calls; the process stays up
                if isinstance(error, ToolError):  # foreseen by the server, and said in words
                    log.error("%s could not start: %s", self.name, error)
                else:
                    log.error("the state could not be held open", exc_info=error)
                life.failure = error
                life.ready.set()
            finally:
                life.closed.set()

    async def _open_state(self, life: "_Life") -> None:
        if self._state is None:
            await self._run_background(life, cast("S", None))
            return
        async with self._state() as state:
            life.state = state
            life.ready.set()
            await self._run_background(life, state)

    async def _run_background(self, life: "_Life", state: S) -> None:
        async with anyio.create_task_group() as tasks:
            for task in self._background:
                tasks.start_soon(self._guard, task, state)
            await life.stop.wait()
            tasks.cancel_scope.cancel()

    async def _guard(self, task: Background[S], state: S) -> None:
        try:
            await task(self, state)
        except Exception:
            log.exception("a background task failed")

    # For dispatch.

    def answer(self, caller: "Caller", scope: Scope) -> Awaitable[Json]:
        """The result of one request."""
        return answer(Call(self, caller, scope))

    async def run_helper(self, function: Callable[..., Any], ctx: Context[Any], *given: Any) -> Any:
        """Run a completer or a lister: it gets what it asks for, by position and by type."""
        helper = self._helpers.get(function)
        if helper is None:
            helper = self._helpers[function] = _Helper(function)
        return await helper.run(ctx, *given)

    def sealer(self) -> "Sealer":
        """The keeper of request states; made when the first question is asked."""
        if self._sealer is None:
            from ..protocol.sealing import Sealer

            self._sealer = Sealer.from_environment(os.environ)
        return self._sealer


class _Life:
    """One run of a server, from start to stop."""

    def __init__(self, *, shared: bool) -> None:
        self.shared = shared  # by several connections
        self.wanted = anyio.Event()
        self.ready = anyio.Event()
        self.stop = anyio.Event()
        self.closed = anyio.Event()
        self.holding = anyio.CancelScope(shield=True)
        self.state: Any = None
        self.failure: Exception | None = None


class _Helper:
    """A completer or lister, and which of the offered values it wants."""

    def __init__(self, function: Callable[..., Any]) -> None:
        hints = get_type_hints(function)
        names = list(signature(function).parameters)
        context = next((name for name in names if is_context(hints.get(name))), None)
        self._handler = Handler(function, context)
        self._chosen = next((name for name in names if _is_mapping(hints.get(name))), None)
        self._typed = [name for name in names if name not in (context, self._chosen)]

    async def run(self, ctx: Context[Any], *given: Any) -> Any:
        values = dict(zip(self._typed, given, strict=False))
        if self._chosen is not None:
            values[self._chosen] = given[-1]
        return await self._handler.run(ctx, **values)


def _is_mapping(hint: Any) -> bool:
    from typing import get_origin

    return get_origin(hint) in (Mapping, dict)
