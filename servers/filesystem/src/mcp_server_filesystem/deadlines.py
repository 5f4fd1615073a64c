"""Blocking work that may hang: a disk can stop answering, a server must not.

Work is done in threads, a few for each allowed directory, and nobody waits for one without end. So a mount that
hangs costs its own threads and its own calls, and no others.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, TypeVarTuple, Unpack

import anyio
from mcp_server_core import Context, Threads, ToolError

from .jobs import Job

if TYPE_CHECKING:
    from mcp_server_core.places import Places

    from .workspace import Workspace

T = TypeVar("T")
Ts = TypeVarTuple("Ts")
SECONDS = 30.0  # of silence, after which an operation is given up
THREADS = 8  # of one allowed directory; those that hang count
_MOST_POOLS = 32
_LOOK = 3.0  # seconds for a look at all allowed directories
_TICK = 0.2  # seconds between two looks at how far a job is


async def bounded(
    ctx: "Context[Workspace]",
    function: "Callable[[Places, str, Unpack[Ts]], T]",
    places: "Places",
    path: str,
    *args: *Ts,
) -> T:
    """Run work on a path in a worker thread; a ToolError when it takes too long."""
    return await ctx.state.deadlines.run(function, places, path, *args)


async def followed(
    ctx: "Context[Workspace]",
    function: "Callable[[Job, Places, str, Unpack[Ts]], T]",
    places: "Places",
    path: str,
    *args: *Ts,
) -> T:
    """Run long work that counts in a job. As long as the count grows it may go on, and the client is told."""
    return await ctx.state.deadlines.follow(ctx, function, places, path, *args)


class Deadlines:
    """The threads of each allowed directory, and how long they may be silent."""

    __slots__ = ("_looking", "_pools", "_seconds")

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._pools: dict[str, Threads] = {}
        self._looking = Threads(_MOST_POOLS)

    async def run(
        self, function: "Callable[[Places, str, Unpack[Ts]], T]", places: "Places", path: str, *args: *Ts
    ) -> T:
        """Run work on a path; a ToolError when it takes too long."""
        place = await self._place(places, path)
        with anyio.move_on_after(self._seconds):
            return await self._pool(place).run(function, places, path, *args)
        raise _silent(path, self._seconds)

    async def run_in(self, place: str, function: Callable[[Unpack[Ts]], T], *args: *Ts) -> T:
        """Run work in the threads of one allowed directory."""
        with anyio.move_on_after(self._seconds):
            return await self._pool(place).run(function, *args)
        raise _silent(place, self._seconds)

    async def follow(
        self,
        ctx: Context[Any],
        function: "Callable[[Job, Places, str, Unpack[Ts]], T]",
        places: "Places",
        path: str,
        *args: *Ts,
    ) -> T:
        """Run long work; a ToolError when it is silent for too long."""
        pool, job = self._pool(await self._place(places, path)), Job()
        outcome: list[T] = []
        failure: list[Exception] = []

        async def work() -> None:
            try:
                outcome.append(await pool.run(function, job, places, path, *args))
            except Exception as error:  # noqa: BLE001 - raised below, outside the task group
                failure.append(error)
            tasks.cancel_scope.cancel()

        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                await self._report(ctx, job)
                tasks.cancel_scope.cancel()
        finally:
            job.stopped = True  # whoever does not wait any more does not want it done either
        if failure:
            raise failure.pop()  # kept in a name it would hold on to this frame, and that to all of the work
        if not outcome:
            raise _silent(path, self._seconds)
        return outcome[0]

    async def _report(self, ctx: Context[Any], job: Job) -> None:
        """Tell how far the job is, until it has been silent for too long."""
        seen, quiet = 0, 0.0
        while quiet < self._seconds:
            await anyio.sleep(min(_TICK, self._seconds))
            if job.count == seen:
                quiet += _TICK
                continue
            seen, quiet = job.count, 0.0
            await ctx.progress(seen, None, f"{seen} entries")

    async def look(self, places: "Places", function: Callable[[], T]) -> T:
        """Ask something about all the allowed directories."""
        await self._settle(places)
        with anyio.move_on_after(self._seconds):
            return await self._looking.run(function)
        raise _silent("The allowed directories", self._seconds)

    async def _place(self, places: "Places", path: str) -> str:
        """The allowed directory of a path, once all of them have been looked at."""
        known = places.directories()
        if len(known) != 1:
            await self._settle(places)
            known = places.directories()
        return place_of(known, path)

    def _pool(self, place: str) -> Threads:
        if place not in self._pools:
            # Beyond so many directories, those that come later share their threads.
            place = place if len(self._pools) < _MOST_POOLS else ""
        return self._pools.setdefault(place, Threads(THREADS))

    async def _settle(self, places: "Places") -> None:
        """Look whether directories came, went or were replaced, without being held up by one that hangs.

        A thread that hangs there is the only one that ever will: places know what it waits for, and leave it out.
        """
        for _ in range(1 + len(places.directories())):
            with anyio.move_on_after(_LOOK):
                await self._looking.run(places.current)
                return


def place_of(directories: list[str], path: str) -> str:
    """The directory that a path begins with, by its spelling: good enough to choose threads by."""
    if len(directories) == 1:
        return directories[0]
    if path.startswith("file:"):
        from mcp_server_core.places import parse_root

        path = parse_root(path).path
    inside = [
        known for known in directories if path == known or path.startswith(known.rstrip(os.sep) + os.sep)
    ]
    return max(inside, key=len, default="")


def _silent(path: str, seconds: float) -> ToolError:
    from mcp_server_core.places import shown

    return ToolError(
        f"{shown(path)} did not answer within {seconds:g} seconds, as if its disk or network were away: "
        "try another path, or this one later."
    )
