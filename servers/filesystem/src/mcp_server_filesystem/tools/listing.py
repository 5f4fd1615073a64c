"""What a model may ask about directories. The work is done in listing.py and tree.py."""

from typing import TYPE_CHECKING, Annotated, NotRequired

from mcp_server_core import Arg, Context, Registry, Result, ToolError, fit_items, write_cursor
from typing_extensions import TypedDict

from ..deadlines import bounded, followed
from ..jobs import Job
from ..listing import (
    Entry,
    Kind,
    Order,
    Totals,
    list_names,
    list_sizes,
    size_in_words,
    sort_key,
    sum_up,
    written,
)
from ..naming import written_path
from ..tree import Node, Shape, Tree, grow, outline
from ..workspace import Workspace
from .paging import ROOM, Cursor, Excluded, Ignored, position, unread

if TYPE_CHECKING:
    from mcp_server_core.places import Places

listing = Registry()


# Comments, not docstrings, on what is returned: a docstring becomes part of the schema, and costs tokens.


class Listed(TypedDict):  # One name.
    name: str
    type: Kind


class Sized(Listed):  # One name, with its size in bytes and the time of its last change.
    size: int
    modified: str


class Listing(TypedDict):  # What is in a directory.
    entries: list[Listed]
    total: int
    nextCursor: NotRequired[str]


class SizedListing(TypedDict):  # What is in a directory, and how much.
    entries: list[Sized]
    files: int
    directories: int
    totalSize: int
    nextCursor: NotRequired[str]


@listing.tool("List directory", read_only=True, open_world=False)
async def list_directory(path: str, ctx: Context[Workspace], cursor: Cursor = None) -> Result[Listing]:
    """List the names in a directory, each marked [FILE], [DIR], [LINK] or [OTHER]."""
    entries = await bounded(ctx, _list_names, await ctx.places(), path)
    start = _index(entries, "name", cursor)
    page = fit_items(entries, ctx.max_chars - ROOM, lambda entry: len(entry.name) + 32, start=start)
    data: Listing = {
        "entries": [{"name": entry.name, "type": entry.kind} for entry in page.items],
        "total": len(entries),
    }
    lines = [f"{_MARKS[entry.kind]} {entry.name}" for entry in page.items]
    if page.next is not None:
        data["nextCursor"] = _cursor("name", page.items[-1])
        lines.append(_more(len(entries) - page.next, data["nextCursor"]))
    return Result(data, "\n".join(lines) or "The directory is empty.")


@listing.tool("List directory with sizes", read_only=True, open_world=False)
async def list_directory_with_sizes(
    path: str,
    ctx: Context[Workspace],
    sortBy: Annotated[Order, Arg("size: largest first")] = "name",  # noqa: N803 - as the wire spells it
    cursor: Cursor = None,
) -> Result[SizedListing]:
    """List a directory with size and time of each entry, and totals."""
    entries = await bounded(ctx, _list_sizes, await ctx.places(), path)
    totals = sum_up(entries)
    entries.sort(key=lambda entry: sort_key(sortBy, entry))
    start = _index(entries, sortBy, cursor)
    page = fit_items(entries, ctx.max_chars - ROOM, lambda entry: len(entry.name) + 96, start=start)
    data: SizedListing = {
        "entries": [_sized(entry) for entry in page.items],
        "files": totals.files,
        "directories": totals.directories,
        "totalSize": totals.size,
    }
    lines = [
        _sized_line(entry, said["modified"]) for entry, said in zip(page.items, data["entries"], strict=True)
    ]
    if page.next is not None:
        data["nextCursor"] = _cursor(sortBy, page.items[-1])
        lines.append(_more(len(entries) - page.next, data["nextCursor"]))
    return Result(data, "\n".join([*lines, *_sums(totals)]))


_MARKS: dict[Kind, str] = {"file": "[FILE]", "directory": "[DIR]", "link": "[LINK]", "other": "[OTHER]"}


def _list_names(places: "Places", path: str) -> list[Entry]:
    spot = places.resolve(path)
    return written(list_names(spot), spot.path)


def _list_sizes(places: "Places", path: str) -> list[Entry]:
    spot = places.resolve(path)
    return written(list_sizes(spot), spot.path)


def _sized(entry: Entry) -> Sized:
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(entry.modified, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return {"name": entry.name, "type": entry.kind, "size": entry.size, "modified": moment}


def _sized_line(entry: Entry, modified: str) -> str:
    size = "" if entry.kind == "directory" else f"  {entry.size} bytes"
    return f"{_MARKS[entry.kind]} {entry.name}{size}  {modified}"


def _sums(totals: Totals) -> list[str]:
    return [
        "",
        f"Total: {totals.files} files, {totals.directories} directories, {totals.size} bytes ({size_in_words(totals.size)})",
    ]


def _cursor(order: Order, last: Entry) -> str:
    return write_cursor(f"entries by {order}", list(sort_key(order, last)))


def _index(entries: list[Entry], order: Order, cursor: str | None) -> int:
    """Where the page begins: behind the entry that the cursor names, also if that is gone."""
    from bisect import bisect_right

    since = position(f"entries by {order}", cursor)
    if since is None:
        return 0
    return bisect_right(entries, (since[0], since[1]), key=lambda entry: sort_key(order, entry))


def _more(count: int, cursor: str) -> str:
    return f"[{count} more: call again with cursor={cursor}]"


# --- trees -------------------------------------------------------------------------------------------------------


class Branches(TypedDict):  # A directory and what is below it.
    path: str
    tree: list[Node]
    truncated: bool
    more: NotRequired[int]


@listing.tool("Directory tree", read_only=True, open_world=False)
async def directory_tree(
    path: str,
    ctx: Context[Workspace],
    excludePatterns: Excluded = None,  # noqa: N803 - as the wire spells it
    maxDepth: Annotated[int | None, Arg("Levels to open", ge=1)] = None,  # noqa: N803
    includeIgnored: Ignored = False,  # noqa: N803
) -> Result[Branches]:
    """Show what is below a directory, level by level as far as it fits; unopened directories say how many entries they have."""
    shape = Shape(excludePatterns or (), not includeIgnored, maxDepth)
    top, tree = await followed(ctx, _grow, await ctx.places(), path, shape, ctx.max_chars - ROOM)
    data: Branches = {"path": top, "tree": tree.nodes, "truncated": bool(tree.why)}
    if tree.more:
        data["more"] = tree.more
    return Result(data, "\n".join([outline(tree.nodes) or "The directory is empty.", *_tree_notes(tree)]))


def _grow(job: Job, places: "Places", path: str, shape: Shape, budget: int) -> tuple[str, Tree]:
    spot = places.resolve(path)
    try:
        return written_path(spot.path), grow(spot, shape, job, budget=budget)
    except ValueError as error:
        raise ToolError(f"`excludePatterns`: {error}.") from None


def _tree_notes(tree: Tree) -> list[str]:
    notes = unread(tree.unreadable)
    if tree.more:
        notes.append(f"[{tree.more} more at the first level: list_directory pages through them]")
    elif tree.why:
        notes.append(f"[not all was opened, because {tree.why}: call this on a directory that says so]")
    return notes


# --- where we are ------------------------------------------------------------------------------------------------


class Directory(TypedDict):  # One allowed directory.
    path: str
    writable: bool
    reason: str
    problem: str


class Directories(TypedDict):  # Every allowed directory.
    directories: list[Directory]


@listing.tool("List allowed directories", read_only=True, open_world=False)
async def list_allowed_directories(ctx: Context[Workspace]) -> Result[Directories]:
    """List the directories this server may use, whether it may write there, and why each is allowed."""
    places = await ctx.places()
    found: list[Directory] = [
        {"path": item.path, "writable": item.writable, "reason": item.reason, "problem": item.problem}
        for item in await ctx.state.deadlines.look(places, places.listing)
    ]
    return Result({"directories": found}, "\n".join(map(_line, found)) or "No directory is allowed.")


def _line(item: Directory) -> str:
    rights = "read and write" if item["writable"] else "read only"
    problem = f", {item['problem']}" if item["problem"] else ""
    return f"{item['path']} ({rights}, {item['reason']}{problem})"
