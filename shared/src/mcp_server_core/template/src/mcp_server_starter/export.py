"""Writes the tally into a file."""

from mcp_server_core import Context, Registry

from .tally import Tally

export = Registry()


@export.tool("Export the tally", destructive=True, idempotent=True, open_world=False)
async def export_tally(path: str, ctx: Context[Tally]) -> str:
    """Write all counts into a file, in place of what is in it."""
    places = await ctx.places()
    text = ctx.state.table()

    def write() -> str:
        from mcp_server_core.places import replace  # loaded by the first export, not by the start

        spot = places.resolve(path)
        replace(spot, text.encode())
        return f"Wrote {spot.path}."

    return await ctx.in_thread(write)
