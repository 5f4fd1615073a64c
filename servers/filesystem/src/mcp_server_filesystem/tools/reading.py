"""What a model may read. The work is done in reading.py and media.py."""

import os
import stat
from typing import Annotated, NotRequired

from mcp_server_core import Arg, Audio, Context, Embedded, Image, Registry, Result, Text, ToolError
from mcp_server_core.places import Places, Spot, shown
from typing_extensions import TypedDict

from ..blocks import read_chunks, read_sample
from ..deadlines import bounded
from ..media import sniff
from ..reading import (
    Excerpt,
    Position,
    Terms,
    count_lines,
    opened,
    read_lines,
    read_tail,
)
from ..text import detect, newline_of
from ..workspace import Workspace

reading = Registry()

MOST_MEDIA = 10 << 20
"""Bytes of the largest file that is handed over as media; hosts take hardly more."""
_ENDINGS = {"\n": "LF", "\r\n": "CRLF", "\r": "CR"}
# Claude Code cuts results at 25,000 tokens unless the tool says that it may be longer; this is the most it grants.
_LONG = {"anthropic/maxResultSizeChars": 500_000}


class Selection(TypedDict):
    """The lines somebody asked for."""

    head: int
    tail: int
    offset: int
    limit: int
    column: int


@reading.tool("Read text file", read_only=True, open_world=False, meta=_LONG)
async def read_text_file(
    path: str,
    ctx: Context[Workspace],
    head: Annotated[int | None, Arg("First lines only", ge=0)] = None,
    tail: Annotated[int | None, Arg("Last lines only", ge=0)] = None,
    offset: Annotated[int | None, Arg("Line to start at, from 1", ge=0)] = None,
    limit: Annotated[int | None, Arg("Most lines from there", ge=0)] = None,
    column: Annotated[int | None, Arg("Character to start at in that line, from 1", ge=0)] = None,
) -> list[Text]:
    """Read a text file of any size and encoding, or some lines of it; a note says how to go on if it is cut."""
    chosen: Selection = {
        "head": head or 0,
        "tail": tail or 0,
        "offset": offset or 0,
        "limit": limit or 0,
        "column": column or 0,
    }
    _check(chosen)
    excerpt = await _read(await ctx.places(), path, chosen, ctx.max_chars, ctx)
    note = _note(excerpt)
    return [Text(excerpt.text), *([Text(f"[{note}]")] if note else [])]


# The name of old, for prompts and habits that use it.
reading.tool("Read file", read_only=True, open_world=False, name="read_file", listed=False)(read_text_file)


@reading.tool("Read media file", read_only=True, open_world=False)
async def read_media_file(path: str, ctx: Context[Workspace]) -> list[Image | Audio | Embedded]:
    """Read an image or sound as such, any other file as an embedded resource; up to 10 MiB."""
    places = await ctx.places()
    return [await bounded(ctx, _media, places, path, ctx.max_chars)]


@reading.tool("Read multiple files", read_only=True, open_world=False, meta=_LONG)
async def read_multiple_files(
    paths: Annotated[list[str], Arg("Paths", min_length=1, max_length=1000)], ctx: Context[Workspace]
) -> list[Text]:
    """Read several text files at once; each comes with its path, or with what went wrong with it."""
    places = await ctx.places()
    left, failed = ctx.max_chars, 0
    blocks: list[Text] = []
    for index, path in enumerate(paths):
        share = left // (len(paths) - index)
        try:
            said = await _one_of_many(places, path, share, ctx)
        except ToolError as error:
            failed += 1
            said = f"{path}: Error - {error}"[:share]
        blocks.append(Text(said))
        left -= len(said)
    if failed == len(paths):
        raise ToolError("\n".join(block.text for block in blocks))
    return blocks


class FileInfo(TypedDict):
    """What the system knows about a file, a directory or the target of a link."""

    path: str
    type: str
    size: int
    modified: str
    accessed: str
    created: NotRequired[str]
    permissions: str
    mimeType: NotRequired[str]
    sha256: NotRequired[str]
    encoding: NotRequired[str]
    lineEnding: NotRequired[str]
    lines: NotRequired[int]


@reading.tool("Get file info", read_only=True, open_world=False)
async def get_file_info(
    path: str,
    ctx: Context[Workspace],
    content: Annotated[bool, Arg("Also read it: SHA-256, MIME type, encoding, line count")] = False,
) -> Result[FileInfo]:
    """Get type, size, times and permissions of a file or directory."""
    places = await ctx.places()
    info = await bounded(ctx, _info, places, path, _terms(ctx, 0) if content else None)
    return Result(info, "\n".join(f"{name}: {value}" for name, value in info.items()))


# --- text --------------------------------------------------------------------------------------------------------


def _check(chosen: Selection) -> None:
    kinds = [bool(chosen["head"]), bool(chosen["tail"]), bool(chosen["offset"] or chosen["limit"])]
    if sum(kinds) > 1:
        raise ToolError("Give `head`, or `tail`, or `offset` with `limit`, for example offset=1, limit=100.")
    if chosen["column"] and not chosen["offset"]:
        raise ToolError("Give `offset` with `column`: the line in which the column is counted.")


async def _read(
    places: Places, path: str, chosen: Selection, budget: int, ctx: Context[Workspace]
) -> Excerpt:
    # The note comes out of the same budget.
    terms = _terms(ctx, max(1, budget - min(300, budget // 2)))
    return await bounded(ctx, _excerpt, places, path, chosen, terms)


def _terms(ctx: Context[Workspace], budget: int) -> Terms:
    return Terms(budget, ctx.state.fallback, lambda: ctx.cancelled)


def _excerpt(places: Places, path: str, chosen: Selection, terms: Terms) -> Excerpt:
    spot = places.resolve(path)
    if chosen["tail"]:
        return read_tail(spot, terms, chosen["tail"])
    start = Position(chosen["offset"] or 1, chosen["column"] or 1)
    return read_lines(spot, terms, start, chosen["head"] or chosen["limit"] or None)


def _note(excerpt: Excerpt) -> str:
    """What the text alone does not tell; empty if it tells all."""
    said: list[str] = []
    if not excerpt.coding.plain:
        said.append(f"encoding {excerpt.coding.label}")
    if excerpt.damaged:
        said.append("bytes that do not fit the encoding are shown as U+FFFD")
    if excerpt.start is None and excerpt.cut:
        said.append("cut at the beginning, because the last lines are longer than a result may be")
    if excerpt.next is not None:
        said.append(_way_on(excerpt, excerpt.next))
    return "; ".join(said)


def _way_on(excerpt: Excerpt, there: Position) -> str:
    why = "cut here, because a result may not be longer" if excerpt.cut else "the file goes on"
    column = f", column={there.column}" if there.column > 1 else ""
    return f"{why}: continue with offset={there.line}{column}"


async def _one_of_many(places: Places, path: str, share: int, ctx: Context[Workspace]) -> str:
    whole: Selection = {"head": 0, "tail": 0, "offset": 0, "limit": 0, "column": 0}
    excerpt = await _read(places, path, whole, share - len(path) - 4, ctx)
    note = _note(excerpt)
    return f"{path}{f' [{note}]' if note else ''}:\n{excerpt.text}\n"


# --- media and metadata ------------------------------------------------------------------------------------------


def _media(places: Places, path: str, max_chars: int) -> Image | Audio | Embedded:
    spot = places.resolve(path)
    data = _read_whole(spot, max(MOST_MEDIA, max_chars * 3 // 4))
    kind = sniff(data[: 1 << 16], spot.name)
    if (
        kind.startswith("image/") and kind != "image/svg+xml"
    ):  # which is text, and which models cannot look at
        return Image(data, kind)
    if kind.startswith("audio/"):
        return Audio(data, kind)
    return Embedded(_uri(spot), _as_text(data) or data, kind)


def _read_whole(spot: Spot, limit: int) -> bytes:
    with opened(spot) as fd:
        if os.fstat(fd).st_size > limit:
            raise ToolError(f"{shown(spot.given)} is larger than {limit >> 20} MiB: too large for a result.")
    return spot.read_bytes(limit)


def _as_text(data: bytes) -> str | None:
    try:
        return None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        return None


def _uri(spot: Spot) -> str:
    from pathlib import Path

    return Path(spot.path).as_uri()


def _info(places: Places, path: str, terms: Terms | None) -> FileInfo:
    spot = places.resolve(path)
    found = spot.stat()
    info: FileInfo = {
        "path": spot.path,
        "type": _type(found.st_mode),
        "size": found.st_size,
        "modified": _time(found.st_mtime),
        "accessed": _time(found.st_atime),
        "permissions": f"{stat.S_IMODE(found.st_mode):03o}",
    }
    born: float | None = getattr(found, "st_birthtime", None)
    if born is not None:
        info["created"] = _time(born)
    if terms is not None and stat.S_ISREG(found.st_mode):
        _look_inside(spot, info, terms)
    return info


def _look_inside(spot: Spot, info: FileInfo, terms: Terms) -> None:
    from hashlib import sha256

    digest = sha256()
    with opened(spot) as fd:
        sample = read_sample(fd)
        info["mimeType"] = sniff(sample, spot.name)
        for chunk in read_chunks(fd, info["size"]):
            digest.update(chunk)
            if terms.stop():
                raise ToolError("The call was cancelled.")
        info["sha256"] = digest.hexdigest()
        coding = detect(sample, fallback=terms.fallback)
        if coding is not None:
            info["encoding"] = coding.label
            info["lineEnding"] = _ENDINGS[newline_of(sample.decode(coding.codec, "replace"))]
            info["lines"] = count_lines(fd, coding, terms.stop)


def _type(mode: int) -> str:
    return "directory" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def _time(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
