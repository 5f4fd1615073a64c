"""What a model may do: think a thought, look back, write a chain to a file.

Each function is a door. Behind it are shelf.py, which holds the chains, and review.py, which makes them readable.
"""

# The names of arguments are those of the protocol's best-known thinking tool.
# ruff: noqa: N803

import logging
from typing import TYPE_CHECKING, Annotated, NotRequired

from mcp_server_core import (
    Arg,
    Context,
    InvalidCursor,
    Registry,
    ToolError,
    fit_text,
    read_cursor,
    write_cursor,
)
from typing_extensions import TypedDict

from .resources import uri_of, visitor
from .review import View, review, short
from .shelf import Shelf
from .thoughts import MAX_TEXT, Chain, Misfit, Step

if TYPE_CHECKING:
    from mcp_server_core.places import Places

log = logging.getLogger(__name__)
tools = Registry()

PAGE = 20_000  # characters of a review in one result: about 5,000 tokens

Number = Annotated[int, Arg("From 1", ge=1, le=1_000_000)]
Reference = Annotated[int, Arg("Its number", le=1_000_000)]


class Noted(TypedDict):
    """The chain after this thought."""

    thoughtNumber: int
    totalThoughts: int
    nextThoughtNeeded: bool
    branches: list[str]
    thoughtHistoryLength: int
    thinkingId: str
    note: NotRequired[str]


@tools.tool("Sequential thinking", destructive=False, idempotent=False, open_world=False)
async def sequentialthinking(
    thought: Annotated[str, Arg("This step", min_length=1, max_length=MAX_TEXT)],
    nextThoughtNeeded: bool,
    thoughtNumber: Number,
    totalThoughts: Number,
    ctx: Context[Shelf],
    isRevision: bool | None = None,
    revisesThought: Reference | None = None,
    branchFromThought: Reference | None = None,
    branchId: str | None = None,
    needsMoreThoughts: bool | None = None,
    thinkingId: str | None = None,
) -> Noted:
    """Think a hard problem through, one thought per call, until nextThoughtNeeded is false. Plan, doubt, conclude;
    change totalThoughts as you learn. To reconsider a thought, pass isRevision and revisesThought. To try another
    way, pass branchFromThought and a new branchId, then that branchId. Pass the thinkingId of the first result with
    every further thought. Stop when you have an answer you would defend.
    """
    step = Step(
        thought,
        thoughtNumber,
        totalThoughts,
        nextThoughtNeeded,
        _revised(isRevision, revisesThought),
        " ".join((branchId or "").split()),
        branchFromThought or None,
        bool(needsMoreThoughts),
    )
    shelf, who = ctx.state, visitor(ctx, thinkingId)
    try:
        added = await ctx.in_thread(shelf.add, step, who) if shelf.blocks else shelf.add(step, who)
    except Misfit as misfit:
        raise ToolError(str(misfit)) from None
    if log.isEnabledFor(logging.DEBUG):
        log.debug("thought %d of %d: %s", thoughtNumber, totalThoughts, short(thought))
    for id in added.changed:
        await ctx.changed(uri_of(id))
    if who.peer is not None and (added.length == 1 or len(added.changed) > 1):
        await ctx.resources_changed()  # a chain began, or one went
    noted: Noted = {
        "thoughtNumber": thoughtNumber,
        "totalThoughts": added.thought.total,
        "nextThoughtNeeded": nextThoughtNeeded,
        "branches": added.branches,
        "thoughtHistoryLength": added.length,
        "thinkingId": added.id,
    }
    if added.note:
        noted["note"] = added.note
    return noted


def _revised(is_revision: bool | None, number: int | None) -> int | None:
    """The number of the thought that is revised: None for none, 0 for one that was not named.

    Some models fill in every argument, with false and 0 for what they do not mean.
    """
    if is_revision is False:
        return None
    return number or (0 if is_revision else None)


@tools.tool("Review thinking", read_only=True, open_world=False)
async def review_thinking(
    ctx: Context[Shelf],
    thinkingId: str | None = None,
    view: View = "outline",
    cursor: str | None = None,
) -> str:
    """Look back on a chain: its outline, branches side by side, revisions, open questions, or all of it."""
    try:
        chain = await ctx.in_thread(ctx.state.look, visitor(ctx, thinkingId))
    except Misfit as misfit:
        raise ToolError(str(misfit)) from None
    text = await ctx.in_thread(review, chain, view)
    place = [chain.id, view, chain.length]
    piece = fit_text(text, min(PAGE, ctx.max_chars - 300), start=_start(cursor, place))
    if piece.next is None:
        return piece.text
    onward = write_cursor("review", [*place, piece.next])
    return f"{piece.text}\n[truncated at {piece.next} of {piece.total} characters; to go on, pass cursor {onward}]"


def _start(cursor: str | None, place: list[str | int]) -> int:
    """Where to go on; a chain that grew meanwhile reads differently, and so does another view."""
    if not cursor:
        return 0
    try:
        position = read_cursor("review", cursor)
    except InvalidCursor as error:
        raise ToolError(error.message) from None
    match position:
        case [*before, int(start)] if before == place and start > 0:
            return start
        case _:
            raise ToolError(
                "The cursor is of another review, or the chain has changed. Start again without one."
            )


@tools.tool("Export thinking", destructive=True, idempotent=True, open_world=False)
async def export_thinking(
    path: Annotated[str, Arg("File to write, in an allowed directory", example="thinking.md")],
    ctx: Context[Shelf],
    thinkingId: str | None = None,
    view: View = "markdown",
) -> str:
    """Write a chain to a file, in place of what is in it."""
    places = await ctx.places()
    try:
        chain = await ctx.in_thread(ctx.state.look, visitor(ctx, thinkingId))
    except Misfit as misfit:
        raise ToolError(str(misfit)) from None
    return await ctx.in_thread(_export, ctx.state, chain, view, places, path)


def _export(shelf: Shelf, chain: Chain, view: View, places: "Places", path: str) -> str:
    from mcp_server_core.places import replace

    spot = places.resolve(path)
    if shelf.is_kept_at(spot.path):
        raise ToolError(f"{path!r} is where the thoughts are kept: choose another file.")
    written = replace(spot, review(chain, view).encode("utf-8", "replace"))
    return f"Wrote {written.size} bytes to {spot.path}."
