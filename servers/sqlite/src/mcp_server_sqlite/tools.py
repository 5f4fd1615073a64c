"""What a model may do with the databases. Each function is a door; the rooms behind it know nothing of MCP, and are
entered, SQLite with them, when a tool is first called.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeVar

from mcp_server_core import (
    Accepted,
    Arg,
    Context,
    Encoded,
    Registry,
    Result,
    ToolError,
    fit_items,
    read_cursor,
    write_cursor,
)
from typing_extensions import TypedDict

from .problems import Consent
from .workshop import Workshop, reported, target_of, told

if TYPE_CHECKING:
    from .reading import Position
    from .writing import Done

T = TypeVar("T")
tools = Registry()
# Described once: each byte of the list is read by every model in every conversation.
Params = Annotated[Any, Arg("List for ?, object for :name")]


class Rows(TypedDict):
    columns: list[str]
    types: list[str]
    rows: list[list[Any]]
    truncated: bool
    cursor: NotRequired[str]


class Agreement(TypedDict):
    """What the user is asked before a change that cannot be undone."""

    run: Annotated[bool, Arg("Run it?")]


@tools.tool("Read query", read_only=True, open_world=False)
async def read_query(
    query: str,
    ctx: Context[Workshop],
    params: Params = None,
    limit: Annotated[int, Arg("Rows", ge=1)] = 1000,
    cursor: str | None = None,
    database: str | None = None,
) -> Result[Rows]:
    """Run one SELECT. Repeat it with `cursor` for more rows."""
    from .reading import Query, read
    from .statement import bind

    with told():
        target = await target_of(ctx, database)
        asked = Query(query, bind(params), limit, ctx.max_chars)
        start = None if cursor is None else _position(cursor)
        async with reported(ctx) as tell:
            answer = await read(
                lambda: ctx.state.databases.opener(target), asked, ctx.state.timeout, start, tell
            )
    return Result(Encoded(*answer.parts(answer.next and write_cursor("rows", list(answer.next)))))


def _position(cursor: str) -> "Position":
    from mcp_server_core import InvalidCursor

    from .reading import Position

    try:
        match read_cursor("rows", cursor):
            case [int(offset), str(query), str(state)] if offset > 0:
                return Position(offset, query, state)
            case _:
                raise InvalidCursor
    except InvalidCursor:
        raise ToolError("`cursor` must be one that read_query gave, unchanged.") from None


@tools.tool("Write query", destructive=True, idempotent=False, open_world=False)
async def write_query(
    query: str, ctx: Context[Workshop], params: Any = None, database: str | None = None
) -> dict[str, Any]:
    """Run one INSERT, UPDATE, DELETE or schema change."""
    from .statement import bind
    from .writing import write

    with told():
        target, values, state = await target_of(ctx, database), bind(params), ctx.state

        async def act(agreed: bool) -> "Done":
            async with reported(ctx), state.turn(target):
                opener = state.databases.opener(target, write=True)
                return await write(opener, query, values, state.timeout, agreed=agreed)

        done = await _agreed(ctx, act, query, target.name)
    await _told_of(ctx, reshaped=done.reshaped)
    return dict(done.written)


@tools.tool("Create table", destructive=False, idempotent=False, open_world=False)
async def create_table(query: str, ctx: Context[Workshop], database: str | None = None) -> str:
    """Run one CREATE TABLE."""
    from .writing import create_table as create

    with told():
        target, state = await target_of(ctx, database), ctx.state

        async def act(agreed: bool) -> str:
            opener = state.databases.opener(target, write=True)
            async with state.turn(target):
                # It only adds, so the user is asked where everything has to be confirmed.
                return await create(opener, query, state.timeout, agreed=agreed or not state.confirm)

        made = await _agreed(ctx, act, query, target.name)
    await _told_of(ctx, reshaped=True)
    return made


async def _told_of(ctx: Context[Workshop], *, reshaped: bool) -> None:
    """A change is heard of by whoever watches the database, and a change of its tables also by who watches the list."""
    ctx.state.wrote()
    if reshaped:
        await ctx.resources_changed()


async def _agreed(ctx: Context[Workshop], act: Callable[[bool], Awaitable[T]], sql: str, name: str) -> T:
    """Run it, once the user agrees if need be. Nothing is locked while the user thinks."""
    try:
        return await act(False)
    except Consent as needed:
        reason = str(needed)
    if ctx.supports("elicitation"):
        question = f"{reason} in {name}:\n\n{sql[:2000]}\n\nRun it?"
        match await ctx.elicit(question, Agreement):
            case Accepted(data={"run": True}):
                pass
            case _:
                raise ToolError("The user did not agree: nothing was changed.")
    elif ctx.state.confirm:
        raise ToolError(
            f"{reason}. This server runs with --confirm, and this client cannot ask the user: nothing was changed."
        )
    return await act(True)


@tools.tool("Preview write", read_only=True, open_world=False)
async def preview_write(
    query: str, ctx: Context[Workshop], params: Any = None, database: str | None = None
) -> dict[str, Any]:
    """Try a write and roll it back: what would it change?"""
    from .statement import bind
    from .writing import preview

    with told():
        opener = ctx.state.databases.opener(await target_of(ctx, database), write=True)
        return dict(await preview(opener, query, bind(params), ctx.state.timeout))


@tools.tool("Explain query", read_only=True, open_world=False)
async def explain_query(
    query: str, ctx: Context[Workshop], params: Any = None, database: str | None = None
) -> str:
    """Show the plan of a statement without running it."""
    from .plans import explain_plan
    from .statement import bind

    with told():
        opener = ctx.state.databases.opener(await target_of(ctx, database))
        steps = await explain_plan(opener, query, bind(params), ctx.state.timeout)
    return "\n".join("  " * step.level + step.detail for step in steps) or "Nothing is searched or sorted."


@tools.tool("List tables", read_only=True, open_world=False)
async def list_tables(ctx: Context[Workshop], database: str | None = None) -> dict[str, list[str]]:
    """List tables and views."""
    from . import catalogue
    from .running import run

    with told():
        target = await target_of(ctx, database)
        found = await run(ctx.state.databases.opener(target), ctx.state.timeout, catalogue.tables)
    page = fit_items(found, ctx.max_chars - 1000, lambda table: 2 * len(table["name"]) + 3)
    listed: dict[str, list[str]] = {"tables": [], "views": []}
    for table in page.items:
        listed["views" if table["type"] == "view" else "tables"].append(table["name"])
    if page.next is not None:
        listed["truncated"] = [f"{len(found) - page.next} more: query sqlite_master"]
    return listed


@tools.tool("Describe table", read_only=True, open_world=False)
async def describe_table(
    table_name: str, ctx: Context[Workshop], database: str | None = None
) -> dict[str, Any]:
    """Columns, keys, indexes and row count of a table."""
    from . import catalogue
    from .running import run

    with told():
        target = await target_of(ctx, database)
        look = partial(catalogue.describe_fully, table_name, ctx.max_chars)
        return dict(await run(ctx.state.databases.opener(target), ctx.state.timeout, look))


@tools.tool("Schema overview", read_only=True, open_world=False)
async def schema_overview(ctx: Context[Workshop], database: str | None = None) -> dict[str, Any]:
    """All tables with columns, relations, indexes and row counts."""
    from .overview import overview

    with told():
        target = await target_of(ctx, database)
        async with reported(ctx):
            return dict(await overview(ctx.state.databases.opener(target), ctx.state.timeout, ctx.max_chars))


@tools.tool("Append insight", destructive=False, idempotent=False, open_world=False)
async def append_insight(
    insight: Annotated[str, Arg("A finding", min_length=1)], ctx: Context[Workshop]
) -> str:
    """Add a finding to the memo memo://insights."""
    count = ctx.state.insights.add(insight)
    await ctx.changed("memo://insights")
    return f"Noted: insight {count} of the memo."
