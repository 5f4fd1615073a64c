"""From a method to its handler. The one place where an exception becomes an error reply."""

import logging
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any, cast

import anyio

from ..errors import InternalError, InvalidCursor, InvalidParams, McpError, ResourceNotFound, ToolError
from ..protocol.cursors import read_cursor, write_cursor
from ..protocol.messages import Json, take, take_object
from ..protocol.scope import Scope
from .complete import complete
from .content import Link
from .context import Context
from .subscriptions import LIST_KINDS, MAX_URIS
from .tools import error_result

if TYPE_CHECKING:
    from ..places import Places
    from .app import Server
    from .asking import Root
    from .caller import Caller
    from .connection import Connection

log = logging.getLogger("mcp_server_core")
_TOO_MANY_URIS = f"At most {MAX_URIS} resources are watched at once"


class Call:
    """One request on its way through the server."""

    __slots__ = ("caller", "ctx", "in_handler", "params", "scope", "server")

    def __init__(self, server: "Server[Any]", caller: "Caller", scope: Scope) -> None:
        self.server = server
        self.caller = caller
        self.scope = scope
        self.params = scope.params
        self.ctx: Context[Any] | None = None
        self.in_handler = False  # an author's function is running

    @property
    def connection(self) -> "Connection":
        """The connection of a handshake client; methods that only those have may ask for it."""
        return cast("Connection", self.caller)

    async def context(self) -> Context[Any]:
        """The Context of this request; waits until the server's state is open."""
        if self.ctx is None:
            self.ctx = Context(self.caller, self.scope, await self.server.opened())
            if self.scope.era.stateless and not self.params.keys().isdisjoint(
                ("requestState", "inputResponses")
            ):
                self.ctx.replay()  # a forged state is refused before anything runs (MR-8)
        return self.ctx


async def answer(call: Call) -> Json:
    """The result of a request. Raises McpError where the answer is an error, and nothing else."""
    if "traceparent" in call.scope.meta:
        from .tracing import span

        with span(call.scope):
            return await _answer(call)
    return await _answer(call)


async def _answer(call: Call) -> Json:
    try:
        return await _METHODS[call.scope.method](call)
    except BaseException as raised:
        if _is_cancelled(raised):
            raise
        return _explain(call, raised)


def _is_cancelled(raised: BaseException) -> bool:
    """Whether this request is being cancelled; a handler may also have awaited something that was."""
    cancelled = anyio.get_cancelled_exc_class()
    if not any(isinstance(part, cancelled) for part in leaves(raised)):
        return False
    return anyio.current_effective_deadline() == -inf or _task_is_cancelled()


def _task_is_cancelled() -> bool:
    """Whether asyncio itself cancels this task, as an HTTP server does that has waited long enough."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # another event loop
        return False
    return task is not None and task.cancelling() > 0


def _explain(call: Call, raised: BaseException) -> Json:
    """What the peer is told of an exception. A task group in a handler wraps it; what counts is inside."""
    from .asking import InputRequired

    is_tool = call.scope.method == "tools/call"
    parts = leaves(raised)
    for part in parts:
        if isinstance(part, KeyboardInterrupt):
            raise part  # SystemExit is not let through: a library's sys.exit() must not end the server
        if isinstance(part, InputRequired) and call.ctx is not None:
            return call.ctx.replay().result(part)
    first = parts[0]
    if isinstance(first, ToolError):
        if is_tool:
            return error_result(str(first))
        raise InvalidParams(str(first)) from None
    if isinstance(first, McpError):
        if is_tool and call.in_handler and not call.scope.era.stateless:
            return error_result(first.message)  # D-11: what a client lacks, the model should read
        raise first
    log.error("%s failed", call.scope.method, exc_info=raised)
    if is_tool:
        return error_result("Internal error in this tool; the server's log says more.")
    raise InternalError("Internal error") from None


def leaves(raised: BaseException) -> list[BaseException]:
    """The exceptions in a group, or the exception itself."""
    if isinstance(raised, BaseExceptionGroup):
        return [leaf for part in raised.exceptions for leaf in leaves(part)]
    return [raised]


def _page(call: Call, key: str, items: list[Json]) -> Json:
    """One page of a list, with a cursor for the rest (PG-1)."""
    size, start = call.server.page_size, 0
    if "cursor" in call.params:
        start = read_cursor(call.scope.method, take(call.params, "cursor", str))
        if type(start) is not int or not 0 < start <= len(items):
            raise InvalidCursor
    result: Json = {key: items[start : start + size], **call.server.profile.cache.fields()}
    if start + size < len(items):
        result["nextCursor"] = write_cursor(call.scope.method, start + size)
    return result


async def _tools_list(call: Call) -> Json:
    tools = call.server.catalogue.tools.values()
    return _page(call, "tools", [tool.definition for tool in tools if tool.entry.listed])


async def _tools_call(call: Call) -> Json:
    name = take(call.params, "name", str)
    arguments = call.params.get("arguments")
    if arguments is None:
        arguments = {}
    elif type(arguments) is not dict:
        raise InvalidParams("`arguments` is an object")
    tool = call.server.catalogue.tools.get(name)
    if tool is None:
        raise InvalidParams(f"Unknown tool: {name}")  # T-11
    if call.scope.mirror is not None and tool.header_params:
        call.scope.mirror.check_arguments(tool.header_params, arguments)
    ctx = await call.context()
    call.in_handler = True
    return await tool.call(arguments, ctx)


async def _resources_list(call: Call) -> Json:
    catalogue = call.server.catalogue
    fixed = [resource.definition for resource in catalogue.resources if resource.entry.template is None]
    listed: list[Json] = []
    for lister in catalogue.listers:
        found: Iterable[Link] = await call.server.run_helper(lister, await call.context())
        listed += [link.entry() for link in found]
    return _page(call, "resources", fixed + listed)


async def _templates_list(call: Call) -> Json:
    resources = call.server.catalogue.resources
    return _page(
        call, "resourceTemplates", [item.definition for item in resources if item.entry.template is not None]
    )


async def _resources_read(call: Call) -> Json:
    uri = take(call.params, "uri", str)
    found = call.server.catalogue.find_resource(uri)
    if found is None:
        raise ResourceNotFound(uri)
    resource, values = found
    return await resource.read(uri, values, await call.context())


async def _resources_subscribe(call: Call) -> Json:
    uri = take(call.params, "uri", str)
    if not call.server.may_watch(uri):
        raise ResourceNotFound(uri)
    watched = call.connection.listener.uris
    if uri not in watched and len(watched) >= MAX_URIS:
        raise InvalidParams(_TOO_MANY_URIS)
    ctx = await call.context()  # whatever notices the changes is part of the state
    connection, version = call.connection, -1
    places = None
    while version != connection.roots_version:  # else the roots changed while we looked
        version = connection.roots_version
        places = await call.server.watch_places(uri, await _roots(call, ctx))
    call.server.subscriptions.add_uri(connection.listener, uri, places)
    return {}


async def _roots(call: Call, ctx: Context[Any]) -> "list[Root]":
    return await ctx.roots() if call.server.access.wants_roots else []


async def _resources_unsubscribe(call: Call) -> Json:
    uri = take(call.params, "uri", str)
    call.server.subscriptions.drop_uri(call.connection.listener, uri)
    call.connection.outbox.forget(call.connection.listener, uri)
    return {}


async def _subscriptions_listen(call: Call) -> Json:
    """Accept the part of the filter that this server can serve, and hold the stream open (SU-1, SU-10)."""
    wanted = take_object(call.params, "notifications")
    capabilities = call.server.catalogue.capabilities
    accepted: Json = {
        f"{kind}ListChanged": True
        for kind in LIST_KINDS
        if wanted.get(f"{kind}ListChanged") is True and capabilities.get(kind, {}).get("listChanged")
    }
    uris = take(wanted, "resourceSubscriptions", list, [])
    if any(type(uri) is not str for uri in uris):
        raise InvalidParams("`resourceSubscriptions` is a list of URIs")
    if len(uris) > MAX_URIS:
        raise InvalidParams(_TOO_MANY_URIS)
    ctx = await call.context()  # whatever notices the changes is part of the state
    places: dict[str, Places | None] = {}
    if uris:
        roots = None
        while roots != (now := await _roots(call, ctx)):  # else they changed while we looked
            roots, places = now, await _watchable(call.server, uris, now)
        accepted["resourceSubscriptions"] = list(places)
    return await call.caller.listen(call.scope, accepted, places)


async def _watchable(
    server: "Server[Any]", uris: list[str], roots: "list[Root]"
) -> "dict[str, Places | None]":
    """What may be watched of all that was asked for, and in which places it lies."""
    found: dict[str, Places | None] = {}
    for uri in dict.fromkeys(uris):
        if server.may_watch(uri):
            with suppress(ToolError):
                found[uri] = await server.watch_places(uri, roots)
    return found


async def _prompts_list(call: Call) -> Json:
    return _page(call, "prompts", [prompt.definition for prompt in call.server.catalogue.prompts.values()])


async def _prompts_get(call: Call) -> Json:
    name = take(call.params, "name", str)
    prompt = call.server.catalogue.prompts.get(name)
    if prompt is None:
        raise InvalidParams(f"Unknown prompt: {name}")  # P-2
    return await prompt.get(take_object(call.params, "arguments", {}), await call.context())


async def _completion_complete(call: Call) -> Json:
    return await complete(call.server, call.params, await call.context())


_METHODS: dict[str, Callable[[Call], Awaitable[Json]]] = {
    "tools/list": _tools_list,
    "tools/call": _tools_call,
    "resources/list": _resources_list,
    "resources/templates/list": _templates_list,
    "resources/read": _resources_read,
    "resources/subscribe": _resources_subscribe,
    "resources/unsubscribe": _resources_unsubscribe,
    "subscriptions/listen": _subscriptions_listen,
    "prompts/list": _prompts_list,
    "prompts/get": _prompts_get,
    "completion/complete": _completion_complete,
}
