"""What a model may read and watch: any page by its own address. Those fetched lately are listed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mcp_server_core import Contents, Context, Link, Registry, Server, ToolError

from .problems import FetchProblem
from .state import State

if TYPE_CHECKING:
    import anyio

resources = Registry()
_LISTED = 50


@resources.resource("https://{+page}", "Web page", name="https", mime_type="text/markdown", watch=True)
async def secure_page(page: str, ctx: Context[State]) -> Contents:
    """A web page as Markdown, or an image. Subscribing watches it."""
    return await _contents(f"https://{page}", ctx)


@resources.resource(
    "http://{+page}", "Web page without TLS", name="http", mime_type="text/markdown", watch=True
)
async def plain_page(page: str, ctx: Context[State]) -> Contents:
    """A web page as Markdown, or an image. Subscribing watches it."""
    return await _contents(f"http://{page}", ctx)


async def _contents(url: str, ctx: Context[State]) -> Contents:
    from .reading import Wish, read, room

    try:
        errands = await ctx.state.errands(ctx)
        answer = await read(ctx.state.web, url, Wish(length=room(ctx.max_chars, ctx.max_chars)), errands)
    except FetchProblem as problem:
        raise ToolError(str(problem)) from None
    return Contents(answer) if isinstance(answer, str) else Contents(answer.data, answer.media_type)


@resources.resources_list
def latest_pages(ctx: Context[State]) -> Iterable[Link]:
    """The pages fetched lately, the latest first."""
    links: dict[str, Link] = {}
    for page in list(ctx.state.web.cache)[:_LISTED]:
        made = next(iter(page.renderings.values()), None)
        address = page.document.asked
        title = (made.title if made else "")[:100] or None
        links.setdefault(address, Link(address, address[:200], title, mime_type=page.media_type or None))
    return links.values()


@resources.complete(secure_page, "page")
def secure_pages(typed: str, ctx: Context[State]) -> list[str]:
    """Pages fetched lately that begin like this."""
    return _beginning("https://", typed, ctx)


@resources.complete(plain_page, "page")
def plain_pages(typed: str, ctx: Context[State]) -> list[str]:
    """Pages fetched lately that begin like this."""
    return _beginning("http://", typed, ctx)


def _beginning(scheme: str, typed: str, ctx: Context[State]) -> list[str]:
    asked = dict.fromkeys(page.document.asked for page in ctx.state.web.cache)
    return [url.removeprefix(scheme) for url in asked if url.startswith(scheme + typed)]


async def announce_pages(server: Server[State], state: State) -> None:
    """Tell clients that the list of pages grew."""
    while True:
        await state.web.news.wait()
        await server.resources_changed()


async def watch_pages(server: Server[State], state: State) -> None:
    """Watch what somebody subscribed to, and nothing else."""
    import anyio

    watches: dict[str, anyio.CancelScope] = {}
    async with anyio.create_task_group() as tasks:
        async for uris in server.watching():
            for gone in watches.keys() - uris:
                watches.pop(gone).cancel()
            for uri in sorted(uris - watches.keys()):
                if len(watches) < state.web.limits.watched_pages:
                    watches[uri] = anyio.CancelScope()
                    tasks.start_soon(_watch, server, state, uri, watches[uri])


async def _watch(server: Server[State], state: State, uri: str, scope: "anyio.CancelScope") -> None:
    from .watch import Watched

    with scope:
        async for _ in Watched(state.web, uri).changes():
            await server.changed(uri)
