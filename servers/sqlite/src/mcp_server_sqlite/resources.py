"""What a model may read and watch: the memo, and for each database its schema and its tables."""

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from anyio import to_thread
from mcp_server_core import Context, Link, Registry, ResourceNotFound

from .announcing import database_of
from .problems import Problem
from .workshop import Workshop, target_of, told

if TYPE_CHECKING:
    from mcp_server_core.places import Places

    from .running import Session

resources = Registry()
MEMO = "memo://insights"
_LISTED = 200
_ROWS = 10
_CELL = 200


@resources.resource(MEMO, "Insights", name="insights", mime_type="text/markdown", watch=True)
async def insights(ctx: Context[Workshop]) -> str:
    """What append_insight has noted since the server started."""
    return ctx.state.insights.memo()


async def admit(workshop: Workshop, places: "Places", uri: str) -> None:
    """Let a caller watch a database that it may read, and keep in mind where that is."""
    with told():
        await to_thread.run_sync(workshop.databases.find, database_of(uri), places)


@resources.resource(
    "sqlite://{database}/schema", "Schema", mime_type="application/json", watch=True, admit=admit
)
async def schema(database: str, ctx: Context[Workshop]) -> str:
    """Tables, columns, relations, indexes and row counts of a database."""
    from .overview import overview
    from .rows import encoder

    with told():
        opener = ctx.state.databases.opener(await target_of(ctx, database))
        return encoder()(await overview(opener, ctx.state.timeout, ctx.max_chars)).decode()


@resources.resource(
    "sqlite://{database}/tables/{table}", "Table", mime_type="application/json", watch=True, admit=admit
)
async def table(database: str, table: str, ctx: Context[Workshop]) -> str:
    """One table: its columns, keys, indexes, row count and first rows."""
    from .rows import encoder
    from .running import run

    with told():
        opener = ctx.state.databases.opener(await target_of(ctx, database))
        found = await run(opener, ctx.state.timeout, partial(_table, table))
    if found is None:
        raise ResourceNotFound(f"sqlite://{database}/tables/{table}")
    return encoder()(found).decode()


def _table(name: str, running: "Session") -> dict[str, Any] | None:
    from . import catalogue
    from .values import decode, shape

    try:
        found = catalogue.find(running, name)
    except Problem:
        return None
    running.connection.text_factory = decode
    rows = catalogue.first_rows(running, found["name"], _ROWS)
    shown = [[shape(value, _CELL) for value in row] for row in rows]
    return {**catalogue.describe(running, found), "first_rows": shown}


@resources.resources_list
async def known(ctx: Context[Workshop]) -> list[Link]:
    """The schema and the tables of the databases that the operator named."""
    links: list[Link] = []
    for file in ctx.state.databases.choice.files:
        base = f"sqlite://{_encode(file.name)}"
        links.append(Link(f"{base}/schema", f"{file.name} schema", mime_type="application/json"))
        for name in await _table_names(ctx, file.name):
            links.append(
                Link(f"{base}/tables/{_encode(name)}", f"{file.name} {name}", mime_type="application/json")
            )
    return links[:_LISTED]


@resources.complete(schema, "database")
def schema_databases(typed: str, ctx: Context[Workshop]) -> list[str]:
    return _names(typed, (file.name for file in ctx.state.databases.choice.files))


@resources.complete(table, "database")
def table_databases(typed: str, ctx: Context[Workshop]) -> list[str]:
    return _names(typed, (file.name for file in ctx.state.databases.choice.files))


@resources.complete(table, "table")
async def table_names(typed: str, ctx: Context[Workshop], chosen: dict[str, str]) -> list[str]:
    return _names(typed, await _table_names(ctx, chosen.get("database")))


def _names(typed: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(typed.lower())]


async def _table_names(ctx: Context[Workshop], database: str | None) -> list[str]:
    """The tables of a database; none if it cannot be read, for a list must not fail because of one file."""
    from mcp_server_core import ToolError

    from . import catalogue
    from .running import run

    try:
        opener = ctx.state.databases.opener(await target_of(ctx, database))
        return [found["name"] for found in await run(opener, ctx.state.timeout, catalogue.tables)]
    except (Problem, ToolError):
        return []


def _encode(name: str) -> str:
    from urllib.parse import quote

    return quote(name, safe="")
