"""What a model may look for. The work is done in search.py and text_search.py."""

import os
from typing import TYPE_CHECKING, Annotated, NotRequired

from mcp_server_core import Arg, Context, Registry, Result, ToolError, write_cursor
from typing_extensions import TypedDict

from .. import text_search
from ..deadlines import followed
from ..jobs import Job
from ..naming import written_path
from ..needles import TooSlow
from ..search import Found, Position, Wanted, search
from ..text_search import Hit, Hits, Query
from ..workspace import Workspace
from .paging import ROOM, Cursor, Excluded, Ignored, position, unread

if TYPE_CHECKING:
    from mcp_server_core.places import Places

finding = Registry()

MOST_LINES = 1_000
_FILES, _LINES = "files", "lines"


class Matches(TypedDict):
    """Paths, those of directories with a slash at the end."""

    matches: list[str]
    truncated: bool
    nextCursor: NotRequired[str]


@finding.tool("Search files", read_only=True, open_world=False)
async def search_files(
    path: str,
    pattern: Annotated[str, Arg("Glob relative to path", example="**/*.py")],
    ctx: Context[Workspace],
    excludePatterns: Excluded = None,  # noqa: N803 - as the wire spells it
    includeIgnored: Ignored = False,  # noqa: N803
    cursor: Cursor = None,
) -> Result[Matches]:
    """Find files and directories by glob: *.py in the directory itself, **/*.py at any depth."""
    wanted = Wanted(pattern, excludePatterns or (), not includeIgnored)
    since = position(_FILES, cursor)
    base, found = await followed(ctx, _search, await ctx.places(), path, wanted, ctx.max_chars - ROOM, since)
    paths = [written_path(base + name) for name in found.paths]
    data: Matches = {"matches": paths, "truncated": found.next is not None}
    notes = unread(found.unreadable, found.too_deep)
    if found.next is not None:
        data["nextCursor"] = write_cursor(_FILES, found.next)
        notes.append(f"[not all, because {found.why}: call again with cursor={data['nextCursor']}]")
    elif not paths:
        notes.insert(0, _nothing(pattern, found))
    return Result(data, "\n".join(paths + notes))


def _search(
    job: Job, places: "Places", path: str, wanted: Wanted, budget: int, since: Position | None
) -> tuple[str, Found]:
    spot = places.resolve(path)
    base = spot.path.rstrip(os.sep) + os.sep
    try:
        return base, search(spot, wanted, job, budget=budget, each=len(base), since=since)
    except ValueError as error:
        raise ToolError(f"`pattern` or `excludePatterns`: {error}.") from None


def _nothing(pattern: str, found: Found) -> str:
    deeper = "" if "**" in pattern else f" Try **/{pattern.lstrip('/')} to look at any depth."
    hidden = f" {found.ignored} ignored entries were left out." if found.ignored else ""
    return f"No matches among {found.visited} entries.{deeper}{hidden}"


class FoundLine(TypedDict):  # A line, and the lines around it.
    path: str
    line: int
    text: str
    before: NotRequired[list[str]]
    after: NotRequired[list[str]]


class FoundLines(TypedDict):  # Lines that match.
    matches: list[FoundLine]
    truncated: bool
    nextCursor: NotRequired[str]


@finding.tool("Search text", read_only=True, open_world=False)
async def search_text(
    path: str,
    pattern: Annotated[str, Arg("Text to find, or a regular expression")],
    ctx: Context[Workspace],
    regex: bool = False,
    glob: Annotated[str | None, Arg("Only files that match", example="*.py")] = None,
    context: Annotated[int, Arg("Lines around each match", ge=0, le=20)] = 0,
    limit: Annotated[int, Arg("Most matches", ge=1, le=MOST_LINES)] = 100,
    includeIgnored: Ignored = False,  # noqa: N803 - as the wire spells it
    cursor: Cursor = None,
) -> Result[FoundLines]:
    """Find lines of text in a file, or in the files below a directory. Case counts; (?i) in a regex lifts that."""
    query = Query(pattern, regex, glob, context, not includeIgnored)
    since = position(_LINES, cursor)
    base, hits = await followed(
        ctx, _search_text, await ctx.places(), path, query, limit, ctx.max_chars - ROOM, since
    )
    data: FoundLines = {
        "matches": [_found_line(base, hit) for hit in hits.hits],
        "truncated": hits.next is not None,
    }
    lines = [line for said in data["matches"] for line in _told(said)]
    notes = unread(hits.unreadable, hits.too_deep)
    if hits.next is not None:
        data["nextCursor"] = write_cursor(_LINES, hits.next)
        notes.append(f"[not all, because {hits.why}: call again with cursor={data['nextCursor']}]")
    elif not lines:
        hidden = f" {hits.ignored} ignored entries were left out." if hits.ignored else ""
        notes.insert(0, f"No matches in {hits.files} files.{hidden}")
    return Result(data, "\n".join(lines + notes))


def _search_text(
    job: Job,
    places: "Places",
    path: str,
    query: Query,
    limit: int,
    budget: int,
    since: text_search.Position | None,
) -> tuple[str, Hits]:
    spot = places.resolve(path)
    try:
        hits = text_search.search_text(spot, query, job, limit=limit, budget=budget, since=since)
    except TooSlow:
        raise ToolError("`pattern` takes too long to match: make the regular expression simpler.") from None
    except ValueError as error:
        raise ToolError(f"`pattern` or `glob`: {error}.") from None
    return spot.path, hits


def _found_line(base: str, hit: Hit) -> FoundLine:
    path = f"{base.rstrip(os.sep)}{os.sep}{hit.path}" if hit.path else base
    found: FoundLine = {"path": written_path(path), "line": hit.line.number, "text": hit.line.text}
    if hit.line.before:
        found["before"] = hit.line.before
    if hit.line.after:
        found["after"] = hit.line.after
    return found


def _told(found: FoundLine) -> list[str]:
    """The match as grep prints it."""
    path, number = found["path"], found["line"]
    before, after = found.get("before", []), found.get("after", [])
    start = number - len(before)
    return [
        *(f"{path}-{start + at}- {text}" for at, text in enumerate(before)),
        f"{path}:{number}: {found['text']}",
        *(f"{path}-{number + 1 + at}- {text}" for at, text in enumerate(after)),
        *(["--"] if before or after else []),
    ]
