"""One of the five servers for the time of a soak: served over HTTP, kept by a host on pipes, and visited."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import IO, NamedTuple

from ..child import environment
from ..contestants import HERE, PYTHON
from ..http.wire import ADDRESS
from ..messages import HANDSHAKE
from .errors import ExpiredError, LeftError, OddityError
from .forms import StatelessClient
from .hosts import Keeper, come_and_go, start
from .visits import VISITS, Visitor
from .vitals import Vitals, look
from .web import PATIENCE
from .works import Trade

VISITORS = 5
HURRIED = HERE / "servers" / "hurried.py"
LIMIT = 180.0
"""Seconds for one visit; more means that somebody waits for ever."""
SETTLED = 13.0
"""Seconds after which everything that expires has expired: twice the longest limit of `hurried.py`."""
SETTLING = 30.0
"""Seconds that a busy machine may take longer."""


class Plan(NamedTuple):
    """One server: its arguments, where it keeps things, and what there is to do."""

    name: str
    arguments: list[str]
    trade: Trade
    store: Path
    keeps: float
    """KiB for each request that stay in the store for good, by design."""


class Rest(NamedTuple):
    """Both servers at a moment when nobody asks anything."""

    web: Vitals
    kept: Vitals
    busy: float = 0.0
    """Seconds of CPU that both took in the last second."""


@dataclass(slots=True)
class House:
    """One server with everybody who uses it."""

    plan: Plan
    chance: random.Random
    log: IO[bytes]
    visits: Counter[str] = field(default_factory=Counter[str])
    oddities: list[str] = field(default_factory=list[str])
    rests: list[Rest] = field(default_factory=list[Rest])
    _web: asyncio.subprocess.Process = field(init=False)
    _keeper: Keeper = field(init=False)
    _port: int = 0
    _visitors: list[Visitor] = field(default_factory=list[Visitor])

    @property
    def asked(self) -> int:
        """Requests answered so far."""
        return sum(visitor.asked for visitor in self._visitors)

    async def open(self) -> None:
        """Start the server twice: over HTTP, and on pipes."""
        self._web = await asyncio.create_subprocess_exec(
            *(
                PYTHON,
                str(HURRIED),
                self.plan.name,
                *self.plan.arguments,
                "--transport",
                "http",
                "--port",
                "0",
            ),
            stdin=asyncio.subprocess.DEVNULL,
            stderr=self.log,
            env=environment(),
            process_group=0,
        )
        self._port = await self._announced()
        kept = await start(self._command, self.log.fileno())
        await kept.open(HANDSHAKE)
        self._keeper = Keeper(kept, self._visitor("keeper"))

    async def close(self) -> None:
        """Stop both, and see whether they end well and have complained about nothing of their own making."""
        self._web.terminate()
        self._keeper.client.close()
        for process in (self._web, self._keeper.client.process):
            try:
                async with asyncio.timeout(LIMIT):
                    if await process.wait():
                        self.oddities.append(f"ended with {process.returncode}")
            except TimeoutError:
                process.kill()
                self.oddities.append("did not end")
        said = self._said()
        if "Traceback" in said:
            self.oddities.append("complained: " + said[said.index("Traceback") :][-2000:])

    async def work(self, seconds: float) -> None:
        """Be visited in every way until the time is up; visits that have begun are finished."""
        until = monotonic() + seconds
        async with asyncio.TaskGroup() as tasks:
            for number in range(VISITORS):
                tasks.create_task(self._come_by_web(self._visitor(f"web-{number}"), until))
            tasks.create_task(self._come_by_pipe(self._visitor("comer"), until))
            tasks.create_task(self._keep(until))

    async def rest(self) -> None:
        """Tidy up, let everything expire that does, and look at what is left."""
        trade, kept = self.plan.trade, self._keeper.client
        client = StatelessClient(self._port, self.chance)
        await trade.tidy(client, self.chance, "tidy")
        await trade.tidy(kept, self.chance, "tidy")
        await asyncio.sleep(SETTLED)
        # Pools let go of threads that were idle for long when they are asked for one.
        for asking in (client, kept):
            await asking.call(*trade.large, refusals=True)
        client.hang_up()
        until = monotonic() + SETTLING
        now = self._look()
        while monotonic() < until and self.rests and not _as_few(now, self.rests[0]):
            await asyncio.sleep(0.5)
            now = self._look()
        await asyncio.sleep(1)
        last = self._look()
        busy = last.web.cpu - now.web.cpu + last.kept.cpu - now.kept.cpu
        self.rests.append(last._replace(busy=busy))

    def _look(self) -> Rest:
        return Rest(
            look(self._web.pid, self.plan.store), look(self._keeper.client.process.pid, self.plan.store)
        )

    async def _come_by_web(self, visitor: Visitor, until: float) -> None:
        while monotonic() < until:
            (visit,) = visitor.chance.choices(list(VISITS), list(VISITS.values()))
            await self._note(visit.__name__, lambda visit=visit: visit(visitor))

    async def _come_by_pipe(self, visitor: Visitor, until: float) -> None:
        while monotonic() < until:
            await self._note("come_and_go", lambda: come_and_go(visitor, self._command, self.log.fileno()))

    async def _keep(self, until: float) -> None:
        while monotonic() < until and self._keeper.client.process.returncode is None:
            await self._note("keep", self._keeper.visit)

    async def _note(self, name: str, visit: Callable[[], Awaitable[None]]) -> None:
        """One visit, and what was odd about it."""
        self.visits[name] += 1
        try:
            async with asyncio.timeout(LIMIT):
                await visit()
        except (OddityError, OSError, EOFError, ValueError, LookupError, TimeoutError) as error:
            self.oddities.append(f"{name}: {type(error).__name__} {error}")
        except (LeftError, ExpiredError):
            pass
        await asyncio.sleep(self.chance.random() / 5)

    @property
    def _command(self) -> list[str]:
        return [PYTHON, "-m", f"mcp_server_{self.plan.name.replace('-', '_')}", *self.plan.arguments]

    def _visitor(self, name: str) -> Visitor:
        known = next((visitor for visitor in self._visitors if visitor.name == name), None)
        if known is None:
            chance = random.Random(self.chance.random())
            known = Visitor(name, self._port, self.plan.trade, chance)
            self._visitors.append(known)
        return known

    async def _announced(self) -> int:
        """The port, once the process has said it."""
        async with asyncio.timeout(PATIENCE):
            while not (found := ADDRESS.search(self._said())):
                if self._web.returncode is not None:
                    raise OddityError(f"{self.plan.name} did not start")
                await asyncio.sleep(0.05)
        return int(found[1])

    def _said(self) -> str:
        """What the servers have complained about so far."""
        return Path(self.log.name).read_text(errors="replace")


def _as_few(now: Rest, then: Rest) -> bool:
    """Whether there are no more descriptors, threads and children than there were."""
    return all(
        is_ <= was
        for is_, was in zip((*now.web[:3], *now.kept[:3]), (*then.web[:3], *then.kept[:3]), strict=True)
    )
