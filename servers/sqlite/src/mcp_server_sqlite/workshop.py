"""What the handlers share: the databases, the insights, and who hears of changes. Light: loads nothing heavy."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from time import monotonic
from weakref import WeakValueDictionary

from mcp_server_core import Context, ToolError

from .databases import Databases, Target
from .insights import Insights
from .problems import Problem

TIMEOUT = 30.0
_REPORT_SECONDS = 0.5
_CLOSING_SECONDS = 0.8


class Workshop:
    """The state of the server. No database is open in it: every call has a connection of its own."""

    def __init__(self, databases: Databases, timeout: float = TIMEOUT, *, confirm: bool = False) -> None:
        self.databases = databases
        self.timeout = timeout
        self.confirm = confirm
        self.insights = Insights()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.listeners: set[Callable[[], None]] = set()

    def wrote(self) -> None:
        """This server changed a database: whoever watches one looks now, not when the disk tells."""
        for listener in self.listeners:
            listener()

    @asynccontextmanager
    async def turn(self, target: Target) -> AsyncGenerator[None]:
        """The turn of one writer of a database: within this process they wait in line, where SQLite would have each
        of them try again and again.
        """
        lock = self._turns.setdefault(target.key, asyncio.Lock())
        try:
            async with asyncio.timeout(self.timeout):
                await lock.acquire()
        except TimeoutError:
            raise Problem("Another call is still writing to this database: try again in a moment.") from None
        try:
            yield
        finally:
            lock.release()


@asynccontextmanager
async def open_workshop(databases: Databases, timeout: float, *, confirm: bool) -> AsyncGenerator[Workshop]:
    """The state, as the server wants to be given it."""
    yield Workshop(databases, timeout, confirm=confirm)
    running = sys.modules.get(f"{__package__}.running")
    if running is not None:  # else no database was ever opened
        await running.end_all(_CLOSING_SECONDS)


async def target_of(ctx: Context[Workshop], database: str | None) -> Target:
    """The database of a call. The client is asked for its roots only when they matter."""
    databases = ctx.state.databases
    file = databases.named(database)
    if file is not None:
        return Target(file.name, file.path, partial(databases.spot, file))
    places = await ctx.places()
    return Target(database or "", database or "", partial(databases.find, database, places))


@contextmanager
def told() -> Generator[None]:
    """Let the model read what went wrong."""
    try:
        yield
    except Problem as problem:
        raise ToolError(str(problem)) from None


@asynccontextmanager
async def reported(ctx: Context[Workshop]) -> AsyncGenerator[Callable[[int], None]]:
    """Say now and then how long a statement has been running and how many rows came, to whoever wants to know."""
    if "progressToken" not in ctx.meta:
        yield lambda _: None
        return
    report = _Report(ctx)
    # No task group: it would wrap what the statement raises.
    task = asyncio.create_task(report.run())
    try:
        yield report.tell
    finally:
        task.cancel()


class _Report:
    """Progress of one statement."""

    def __init__(self, ctx: Context[Workshop]) -> None:
        self._ctx = ctx
        self._rows = 0
        self._began = monotonic()

    def tell(self, rows: int) -> None:
        self._rows = rows

    async def run(self) -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            running = monotonic() - self._began
            text = f"running for {running:.1f} s, {self._rows} rows so far"
            await self._ctx.progress(running, self._ctx.state.timeout, text)
