"""What can be read and watched: each chain, by its handle.

Whoever has a handle may read its chain. Lists and completion name only chains that the same connection has added
to; a request that came alone, over HTTP, is told of none.
"""

from collections.abc import Iterator

import anyio
from mcp_server_core import Context, Link, Registry, ResourceNotFound, Server

from .review import review, short
from .shelf import Shelf, Who
from .thoughts import Misfit, count

resources = Registry()
POLL = 0.5  # seconds between looks at what other processes wrote
AGEING = 60.0  # seconds between looks at what grew too old, where there are no others


def uri_of(id: str) -> str:
    """The URI of a chain."""
    return f"thinking://chains/{id}"


def visitor(ctx: Context[Shelf], handle: str | None) -> Who:
    """Whoever is calling, in the shelf's terms."""
    return Who(handle and handle.strip(), ctx.peer, ctx.session is not None)


@resources.resource("thinking://chains/{id}", "Chain of thoughts", mime_type="text/markdown", watch=True)
async def chain(id: str, ctx: Context[Shelf]) -> str:
    """Every thought of one chain, as Markdown."""
    try:
        found = await ctx.in_thread(ctx.state.look, visitor(ctx, id))
    except Misfit:
        raise ResourceNotFound(uri_of(id)) from None
    return await ctx.in_thread(review, found, "markdown")


@resources.complete(chain, "id")
def handles(typed: str, ctx: Context[Shelf]) -> list[str]:
    """The caller's own handles that begin like this."""
    return [known.id for known in ctx.state.known_to(ctx.peer) if known.id.startswith(typed)]


@resources.resources_list
def chains(ctx: Context[Shelf]) -> Iterator[Link]:
    """The caller's own chains."""
    for known in ctx.state.known_to(ctx.peer):
        yield Link(
            uri_of(known.id),
            known.id,
            title=short(known.title, 60),
            description=count(known.length, "thought"),
            mime_type="text/markdown",
        )


async def announce(server: Server[Shelf], shelf: Shelf) -> None:
    """Tell whoever watches a chain what other processes added to it, and when it went for its age."""
    while True:
        await anyio.sleep(POLL if shelf.blocks else AGEING)
        if server.subscriptions.uris:
            for id in await server.threads.run(shelf.refresh):
                await server.changed(uri_of(id))
