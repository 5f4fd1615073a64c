"""What can be read and watched."""

from collections.abc import Iterator

from mcp_server_core import Context, Link, Registry, ResourceNotFound

from .tally import Tally

resources = Registry()


@resources.resource("starter://things/{name}", "Count of a thing", mime_type="text/plain", watch=True)
async def thing(name: str, ctx: Context[Tally]) -> str:
    """How often one thing was seen."""
    if name not in ctx.state.counts:
        raise ResourceNotFound(f"starter://things/{name}")
    return str(ctx.state.counts[name])


@resources.complete(thing, "name")
def names(typed: str, ctx: Context[Tally]) -> list[str]:
    """Names that begin like this."""
    return [name for name in ctx.state.counts if name.startswith(typed)]


@resources.resources_list
def things(ctx: Context[Tally]) -> Iterator[Link]:
    """Everything that was counted."""
    for name in ctx.state.counts:
        yield Link(f"starter://things/{name}", name, mime_type="text/plain")
