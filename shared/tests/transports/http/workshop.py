"""The server that the wire rules are tried on: one tool for each thing that can happen to a call."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
from mcp_server_core import Accepted, Arg, Context, Registry, Server
from typing_extensions import TypedDict

PAGE = "page:///one"


class Confirm(TypedDict):
    """A question of yes or no."""

    sure: bool


class Events:
    """What a test waits for, and what a test lets go on."""

    def __init__(self) -> None:
        self.started = anyio.Event()
        self.cancelled = anyio.Event()
        self.finished = anyio.Event()
        self.go = anyio.Event()
        self.again = anyio.Event()


class Workshop:
    """A server, what happens in it, and a part that comes and goes."""

    def __init__(self, **options: Any) -> None:
        self.events = Events()
        self.extra = Registry()
        self.extra.tool("Extra", read_only=True, open_world=False)(extra)
        self.server = Server("workshop", version="1", parts=[_PART], state=self._open, **options)

    @asynccontextmanager
    async def _open(self) -> AsyncGenerator[Events]:
        yield self.events


def extra() -> str:
    """There only sometimes."""
    return "extra"


def _build_part() -> Registry:
    part = Registry()

    @part.tool("Echo", read_only=True, open_world=False)
    async def echo(text: str) -> str:
        """Say it again."""
        return text

    @part.tool("Route", read_only=True, open_world=False)
    async def route(
        region: Annotated[str | None, Arg("Where", header="Region")] = None,
        shard: Annotated[int | None, Arg("Which", header="Shard")] = None,
        dry: Annotated[bool | None, Arg("Only try", header="Dry-Run")] = None,
    ) -> str:
        """Arguments that are mirrored."""
        return f"{region} {shard} {dry}"

    @part.tool("Count", read_only=True, open_world=False)
    async def count(to: int, ctx: Context[Events]) -> str:
        """Report on the way."""
        for number in range(1, to + 1):
            await ctx.progress(number, to)
            await ctx.log("info", f"at {number}")
        return f"counted to {to}"

    @part.tool("Wait", read_only=True, open_world=False)
    async def wait(ctx: Context[Events], reports: int = 0, release: bool = False) -> str:
        """Wait until the test says go; report before and after."""
        events = ctx.state
        try:
            for number in range(reports):
                await ctx.progress(number + 1)
            if release:
                await ctx.release_stream(retry_ms=10)
            events.started.set()
            await events.go.wait()
            await ctx.progress(1000)
        except anyio.get_cancelled_exc_class():
            events.cancelled.set()
            raise
        events.finished.set()
        return "waited"

    @part.tool("Flood", read_only=True, open_world=False)
    async def flood(
        events: int, size: int, ctx: Context[Events], wait: bool = False, release: bool = False
    ) -> str:
        """Say a lot, twice at once; before that, say a word and wait."""
        if wait:
            await ctx.log("info", "a word")
            await ctx.state.go.wait()
        if release:
            await ctx.release_stream(retry_ms=10)
            ctx.state.started.set()
            await ctx.state.again.wait()

        async def speak() -> None:
            for _ in range(events):
                await ctx.log("info", "x" * size)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            tasks.start_soon(speak)
        ctx.state.finished.set()
        return "said"

    @part.tool("Ask", read_only=True, open_world=False)
    async def ask(
        ctx: Context[Events],
        region: Annotated[str | None, Arg("Where", header="Region")] = None,
        report: bool = False,
    ) -> str:
        """Ask the user, with or without a report before."""
        if report:
            await ctx.progress(1)
        match await ctx.elicit("Sure?", Confirm):
            case Accepted(data={"sure": True}):
                return "sure"
            case _:
                return "not sure"

    @part.tool("Break", read_only=True, open_world=False)
    async def break_down() -> str:
        """Fail."""
        raise RuntimeError("a secret")

    @part.tool("Sample", read_only=True, open_world=False)
    async def sample(ctx: Context[Events]) -> str:
        """Ask the model."""
        return (await ctx.sample("Say something", max_tokens=5)).text

    @part.tool("Roots", read_only=True, open_world=False)
    async def roots(ctx: Context[Events]) -> str:
        """Ask for the roots."""
        return " ".join(root.uri for root in await ctx.roots())

    @part.resource("page:///{name}", "Page", watch=True)
    async def page(name: str) -> str:
        """A page."""
        return name

    @part.prompt("Greet")
    async def greet(name: str) -> str:
        """A greeting."""
        return f"Hello {name}"

    return part


_PART = _build_part()
