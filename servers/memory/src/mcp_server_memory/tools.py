"""What a model may do with the memory. Each function is a door; the room behind it is graph.py."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

from mcp_server_core import Arg, Context, Registry, Result, ToolError, read_cursor

from .graph import Graph
from .pages import Bounds, Position
from .query import QueryError
from .results import (
    AddedObservations,
    CreatedEntities,
    CreatedRelations,
    Done,
    Opened,
    Subgraph,
    echo_result,
    page_result,
    removal_result,
)
from .shapes import Addition, Entity, Relation, Retraction, triple
from .store import GraphError

tools = Registry()
COMFORTABLE = 40_000
"""Characters of a page: about ten thousand tokens, from which on hosts begin to warn or to cut."""
MOST_ENTITIES = 1_000
LARGEST_IMPORT = 256 * 1024 * 1024

Limit = Annotated[int, Arg("Entities", ge=1)]
Cursor = Annotated[str | None, Arg("A page's nextCursor")]


@tools.tool("Create entities", destructive=False, idempotent=True, open_world=False)
async def create_entities(entities: list[Entity], ctx: Context[Graph]) -> CreatedEntities:
    """Store new entities. Names that exist are ignored."""
    with explained():
        written = await ctx.state.create_entities(entities, client_of(ctx))
    made, ignored = written.result
    return echo_result("entities", made, ignored, written, ctx.max_chars)


@tools.tool("Create relations", destructive=False, idempotent=True, open_world=False)
async def create_relations(relations: list[Relation], ctx: Context[Graph]) -> CreatedRelations:
    """Store new relations between existing entities, in active voice. Known ones are ignored."""
    with explained():
        written = await ctx.state.create_relations([triple(one) for one in relations], client_of(ctx))
    made = [one.shown() for one in written.result.relations]
    ignored = [" ".join((one.source, one.type, one.target)) for one in written.result.ignored]
    return echo_result("relations", made, ignored, written, ctx.max_chars)


@tools.tool("Add observations", destructive=False, idempotent=True, open_world=False)
async def add_observations(observations: list[Addition], ctx: Context[Graph]) -> AddedObservations:
    """Store new observations about existing entities. Known ones are ignored."""
    with explained():
        written = await ctx.state.add_observations(observations, client_of(ctx))
    ignored = [f"{name}: {text}" for name, text in written.result.ignored]
    return echo_result("results", written.result.results, ignored, written, ctx.max_chars)


@tools.tool("Delete entities", destructive=True, idempotent=True, open_world=False)
async def delete_entities(entityNames: list[str], ctx: Context[Graph]) -> Result[Done]:  # noqa: N803 - the wire's word
    """Delete entities with their observations and relations."""
    with explained():
        return removal_result(await ctx.state.delete_entities(entityNames, client_of(ctx)))


@tools.tool("Delete observations", destructive=True, idempotent=True, open_world=False)
async def delete_observations(deletions: list[Retraction], ctx: Context[Graph]) -> Result[Done]:
    """Delete observations by their exact text."""
    with explained():
        return removal_result(await ctx.state.delete_observations(deletions, client_of(ctx)))


@tools.tool("Delete relations", destructive=True, idempotent=True, open_world=False)
async def delete_relations(relations: list[Relation], ctx: Context[Graph]) -> Result[Done]:
    """Delete relations."""
    with explained():
        return removal_result(
            await ctx.state.delete_relations([triple(one) for one in relations], client_of(ctx))
        )


@tools.tool("Undo a change", destructive=True, idempotent=False, open_world=False)
async def undo(
    ctx: Context[Graph],
    change: Annotated[int | None, Arg("Its number; default: the last", ge=1)] = None,
) -> str:
    """Take back a change: what it added goes, what it deleted returns."""
    with explained():
        written = await ctx.state.undo(change, client_of(ctx))
    return f"{written.result.message} This was change {written.change}."


@tools.tool("Read the graph", read_only=True, open_world=False)
async def read_graph(ctx: Context[Graph], limit: Limit = 1000, cursor: Cursor = None) -> Subgraph:
    """Read everything, a page at a time. search_nodes costs less."""
    with explained():
        return page_result(await ctx.state.read(_bounds(ctx, limit), _start("read", cursor)), "read")


@tools.tool("Search", read_only=True, open_world=False)
async def search_nodes(
    query: Annotated[str, Arg('Words, "phrases"; filters type:person, since:7d, before:2026-01-31')],
    ctx: Context[Graph],
    limit: Limit = 20,
    cursor: Cursor = None,
) -> Subgraph:
    """Find entities that hold all words, best first, with relations."""
    kind = f"search {query}"
    with explained():
        return page_result(await ctx.state.search(query, _bounds(ctx, limit), _start(kind, cursor)), kind)


@tools.tool("Open entities", read_only=True, open_world=False)
async def open_nodes(
    names: list[str],
    ctx: Context[Graph],
    details: Annotated[bool, Arg("Show times and sources of facts, and removed facts")] = False,
    cursor: Cursor = None,
) -> Opened:
    """Read entities by exact name, with relations."""
    with explained():
        page = await ctx.state.open(
            names, _bounds(ctx, MOST_ENTITIES), _start("open", cursor), details=details
        )
        return page_result(page, "open")


@tools.tool("Neighbors", read_only=True, open_world=False)
async def neighbors(
    names: list[str],
    ctx: Context[Graph],
    hops: Annotated[int, Arg("Steps, in either direction", ge=1, le=6)] = 1,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Subgraph:
    """Read what is related to entities, nearest first."""
    with explained():
        page = await ctx.state.neighbors(names, hops, _bounds(ctx, limit), _start("near", cursor))
        return page_result(page, "near")


@tools.tool("Export the graph", destructive=True, idempotent=True, open_world=False)
async def export_graph(path: str, ctx: Context[Graph], overwrite: bool = False) -> str:
    """Write the graph to a file in an allowed directory: .md as Markdown, else JSON lines."""
    from .transfer import save

    places = await ctx.places()
    spot = await ctx.in_thread(places.resolve, path)
    with explained():
        size = await save(ctx.state, spot, overwrite=overwrite)
    return f"Wrote the graph, {size} bytes, to {spot.path}."


@tools.tool("Import a graph", destructive=False, idempotent=True, open_world=False)
async def import_graph(path: str, ctx: Context[Graph]) -> str:
    """Add what is new in a file like memory.jsonl in an allowed directory."""
    from .transfer import load, report

    places = await ctx.places()
    spot, side = [await ctx.in_thread(places.resolve, name) for name in (path, f"{path}.not-imported")]
    contents = await ctx.in_thread(load, spot, LARGEST_IMPORT)
    await ctx.progress(1, 2, "file read")
    with explained():
        written = await ctx.state.merge(
            contents.entities, contents.relations, client_of(ctx), lambda: ctx.cancelled
        )
    await ctx.progress(2, 2, "stored")
    message = await ctx.in_thread(report, side, contents, written.result)
    return message if written.change is None else f"{message} (change {written.change})"


@contextmanager
def explained() -> Generator[None]:
    """The edge of the domain: what it refuses is an error that the model reads."""
    try:
        yield
    except (GraphError, QueryError) as error:
        raise ToolError(str(error)) from None


def client_of(ctx: Context[Graph]) -> str:
    """Who speaks: a label, bounded because clients choose it."""
    return str(ctx.client.get("name") or "unknown")[:100]


def _bounds(ctx: Context[Graph], limit: int) -> Bounds:
    # What is said about the page (cursor, notices) needs room beside it.
    return Bounds(min(COMFORTABLE, ctx.max_chars * 9 // 10 - 500), min(limit, MOST_ENTITIES))


def _start(kind: str, cursor: str | None) -> Position | None:
    if cursor is None:
        return None
    from mcp_server_core import InvalidCursor

    try:
        key, relations, after, offset = read_cursor(kind, cursor)
        return Position(int(key), bool(relations), int(after), int(offset))
    except (InvalidCursor, TypeError, ValueError, OverflowError):
        raise ToolError(
            "The cursor is not one of this call. Repeat the call with the same arguments and the nextCursor it gave, or without."
        ) from None
