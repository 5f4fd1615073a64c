"""From a method to its handler. The one place where an exception becomes an error reply."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Any

from ..errors import InternalError, InvalidParams, McpError, ResourceNotFound, ToolError
from ..protocol.cursors import read_cursor, write_cursor
from ..protocol.messages import Json, take, take_object
from ..protocol.revisions import MAY_ASK
from ..protocol.scope import Scope
from .complete import complete
from .content import Link
from .context import Context
from .subscriptions import LIST_KINDS, Listener
from .tools import error_result

if TYPE_CHECKING:
    from .app import Server
    from .asking import InputRequired
    from .connection import Connection

log = logging.getLogger("mcp_server_core")


class Call:
    """One request on its way through the server."""

    __slots__ = ("connection", "ctx", "params", "scope", "server")

    def __init__(self, server: "Server[Any]", connection: "Connection", scope: Scope) -> None:
        self.server = server
        self.connection = connection
        self.scope = scope
        self.params = scope.params
        self.ctx: Context[Any] | None = None

    async def context(self) -> Context[Any]:
        """The Context of this request; waits until the server's state is open."""
        if self.ctx is None:
            self.ctx = Context(self.connection, self.scope, await self.server.opened())
            if self.scope.era.stateless and not self.params.keys().isdisjoint(
                ("requestState", "inputResponses")
            ):
                self.ctx.replay()  # a forged state is refused before anything runs (MR-8)
        return self.ctx


async def answer(call: Call) -> Json:
    """The result of a request. Raises McpError where the answer is an error, and nothing else."""
    scope = call.scope
    try:
        return await _METHODS[scope.method](call)
    except McpError:
        raise
    except ToolError as error:
        if scope.method == "tools/call":
            return error_result(str(error))
        raise InvalidParams(str(error)) from None
    except Exception as error:
        # A task group in a handler wraps its errors; an answer that is really an error is inside.
        inner = _unwrap(error)
        if inner is not None:
            raise inner from None
        log.exception("%s failed", scope.method)
        if scope.method == "tools/call":
            return error_result("Internal error in this tool; the server's log says more.")
        raise InternalError("Internal error") from None
    except BaseException as signal:
        required = _find_question(signal)
        if required is None or call.ctx is None or scope.method not in MAY_ASK:
            raise
        return call.ctx.replay().result(required)


def _unwrap(error: Exception) -> McpError | None:
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error if isinstance(error, McpError) else None


def _find_question(signal: BaseException) -> "InputRequired | None":
    from .asking import InputRequired

    if isinstance(signal, InputRequired):
        return signal
    if isinstance(signal, BaseExceptionGroup):
        return next((found for inner in signal.exceptions if (found := _find_question(inner))), None)
    return None


def _page(call: Call, key: str, items: list[Json]) -> Json:
    """One page of a list, with a cursor for the rest (PG-1)."""
    size, start = call.server.page_size, 0
    if "cursor" in call.params:
        start = read_cursor(call.scope.method, take(call.params, "cursor", str))
        if type(start) is not int or not 0 < start <= len(items):
            raise InvalidParams("Invalid cursor. Start again without one.")
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
    try:
        return await tool.call(arguments, await call.context())
    except McpError as error:
        if call.scope.era.stateless:
            raise
        return error_result(error.message)  # D-11: what a client lacks, the model should read


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
    await call.server.opened()  # whatever notices the changes is part of the state
    call.server.subscriptions.add_uri(call.connection.listener, uri)
    return {}


async def _resources_unsubscribe(call: Call) -> Json:
    call.server.subscriptions.drop_uri(call.connection.listener, take(call.params, "uri", str))
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
    if uris:
        accepted["resourceSubscriptions"] = [uri for uri in dict.fromkeys(uris) if call.server.may_watch(uri)]
    await call.server.opened()  # whatever notices the changes is part of the state
    listener = Listener(call.connection.outbox.post, call.scope.id)
    return await call.connection.listen(call.scope, listener, accepted)


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
