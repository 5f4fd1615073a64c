"""What a model may do with the tally."""

from typing import Annotated

from mcp_server_core import Arg, Context, Registry, ToolError
from typing_extensions import TypedDict

from .tally import MOST, Full, Tally

tools = Registry()
Name = Annotated[str, Arg("What is counted", pattern="^[a-z][a-z0-9-]*$", max_length=40, example="birds")]


class Counted(TypedDict):
    """A thing and its count."""

    name: str
    count: int


@tools.tool("Count", destructive=False, idempotent=False, open_world=False)
async def count(
    name: Name, ctx: Context[Tally], by: Annotated[int, Arg("How many", ge=1, le=1000)] = 1
) -> Counted:
    """Count a thing that was seen."""
    new = name not in ctx.state.counts
    try:
        total = ctx.state.add(name, by)
    except Full:
        raise ToolError(f"At most {MOST} things are counted: go on with one of those.") from None
    await ctx.changed(f"starter://things/{name}")  # whoever watches it hears of it, in every revision
    if new:
        await ctx.resources_changed()
    return {"name": name, "count": total}


@tools.tool("How many", read_only=True, open_world=False)
async def how_many(name: Name, ctx: Context[Tally]) -> Counted:
    """Say how often a thing was seen."""
    if name not in ctx.state.counts:
        known = ", ".join(sorted(ctx.state.counts)[:20]) or "nothing yet"
        raise ToolError(f"{name!r} was never counted; counted were: {known}.")
    return {"name": name, "count": ctx.state.counts[name]}
