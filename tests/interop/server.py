"""A small server that uses everything once: what foreign clients are tried against."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated

import anyio
from mcp_server_core import (
    Accepted,
    Arg,
    Context,
    Image,
    Registry,
    ResourceNotFound,
    Server,
    ToolError,
    cli,
)
from typing_extensions import TypedDict

part = Registry()
extra = Registry()
Title = Annotated[str, Arg("Title of the note", min_length=1, example="groceries")]


class Notes:
    """The state: notes by title."""

    def __init__(self) -> None:
        self.texts = {"groceries": "milk", "ideas": "a better mousetrap"}
        self.steps = anyio.Semaphore(0)
        self.given_up = anyio.Event()


class Sum(TypedDict):
    """What adding gives."""

    total: int


class Confirm(TypedDict):
    """A question of yes or no."""

    delete: Annotated[bool, Arg("Delete it for good?")]


@part.tool("Echo", read_only=True, open_world=False)
async def echo(text: str) -> str:
    """Say the text again."""
    return text


@part.tool("Add numbers", read_only=True, open_world=False)
def add(a: int, b: int) -> Sum:
    """Add two whole numbers."""
    return {"total": a + b}


@part.tool("Count slowly", read_only=True, open_world=False)
async def count(
    to: Annotated[int, Arg("Last number", ge=1, le=1000)],
    ctx: Context[Notes],
    in_step: Annotated[bool, Arg("Wait for `go_on` after each number")] = False,
) -> str:
    """Count, and report on the way."""
    try:
        for number in range(1, to + 1):
            await ctx.progress(number, to, f"at {number}")
            await ctx.log("info", f"counted {number}")
            if in_step:
                await ctx.state.steps.acquire()
    except anyio.get_cancelled_exc_class():
        ctx.state.given_up.set()
        raise
    return f"counted to {to}"


@part.tool("Go on counting", destructive=False, idempotent=False, open_world=False)
async def go_on(ctx: Context[Notes]) -> str:
    """Let a count in step take the next number."""
    ctx.state.steps.release()
    return "going on"


@part.tool("Notice a cancellation", read_only=True, open_world=False)
async def notice_cancellation(ctx: Context[Notes]) -> str:
    """Answer as soon as a count was cancelled."""
    await ctx.state.given_up.wait()
    return "the count was cancelled"


@part.tool("Write a note", destructive=True, idempotent=True, open_world=False)
async def write_note(title: Title, text: str, ctx: Context[Notes]) -> str:
    """Write a note, and tell whoever watches it."""
    ctx.state.texts[title] = text
    await ctx.changed(f"note:///{title}")
    return f"Wrote {title!r}."


@part.tool("Delete a note", destructive=True, idempotent=True, open_world=False)
async def delete_note(title: Title, ctx: Context[Notes]) -> str:
    """Delete a note, once the user agrees."""
    if title not in ctx.state.texts:
        raise ToolError(f"There is no note called {title!r}; there are: {', '.join(ctx.state.texts)}.")
    match await ctx.elicit(f"Delete {title!r}?", Confirm):
        case Accepted(data={"delete": True}):
            del ctx.state.texts[title]
            return f"Deleted {title!r}."
        case _:
            raise ToolError("The user kept the note.")


@part.tool("Summarise a note", read_only=True, open_world=False)
async def summarise(title: Title, ctx: Context[Notes]) -> str:
    """Let the client's model sum up a note."""
    said = await ctx.sample(f"One line for: {ctx.state.texts[title]}", max_tokens=40)
    return f"{said.model}: {said.text}"


@part.tool("Show the roots", read_only=True, open_world=False)
async def show_roots(ctx: Context[Notes]) -> list[str]:
    """The places the client works in."""
    return [root.uri for root in await ctx.roots()]


@part.tool("Draw a dot", read_only=True, open_world=False)
async def draw() -> Image:
    """A picture of one pixel."""
    return Image(bytes.fromhex("89504e470d0a1a0a"), "image/png")


@part.tool("Toggle the extra tool", destructive=False, idempotent=False, open_world=False)
async def toggle_extra() -> str:
    """Offer one more tool, or take it back."""
    if "extra_tool" in server.catalogue.tools:
        await server.remove(extra)
        return "taken back"
    await server.add(extra)
    return "offered"


@extra.tool("Extra", read_only=True, open_world=False)
async def extra_tool() -> str:
    """There only sometimes."""
    return "extra"


@part.resource("note:///{title}", "Note", mime_type="text/markdown", watch=True)
async def note(title: str, ctx: Context[Notes]) -> str:
    """One note."""
    if title not in ctx.state.texts:
        raise ResourceNotFound(f"note:///{title}")
    return ctx.state.texts[title]


@part.resource("notes:///all", "All notes", mime_type="text/plain", watch=True)
async def all_notes(ctx: Context[Notes]) -> str:
    """Every title."""
    return "\n".join(ctx.state.texts)


@part.complete(note, "title")
def titles(typed: str, chosen: Mapping[str, str], ctx: Context[Notes]) -> list[str]:
    """Titles that begin with what was typed."""
    return [title for title in ctx.state.texts if title.startswith(typed)]


@part.prompt("Review a note")
async def review_note(title: Title) -> str:
    """Ask for a review of one note."""
    return f"Read note:///{title} and say what is unclear in it."


@asynccontextmanager
async def open_notes() -> AsyncGenerator[Notes]:
    """Open the state."""
    yield Notes()


server = Server("notes", version="1.0", instructions="Notes.", state=open_notes, parts=[part])

if __name__ == "__main__":
    cli.run(server, cli.parser(server.name, server.version, __doc__).parse_args())
