"""What is asked of a server that holds a graph, and how long it takes."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from ..conversation import Conversation
from ..messages import WrongAnswerError
from ..sheet import Column, Sheet
from .floor import Floor
from .graphs import COMMON, SIZES, WORDS, entity

_SETTLE = 2.0  # seconds for a server to finish what it does behind a large import
_SINGLE_WRITES = 600


@dataclass(slots=True)
class Runner:
    """One server with a graph."""

    column: Column
    server: Conversation
    size: int
    fresh: "count[int]" = field(default_factory=lambda: count(1_000_000))

    def create(self, entities: int) -> tuple[float, float]:
        """Seconds of wall and CPU for one call."""
        wanted = [entity(next(self.fresh)) for _ in range(entities)]
        done = self.server.call("create_entities", {"entities": wanted})
        return done.wall, done.cpu

    def ask(self, tool: str, arguments: dict[str, Any], least: int) -> tuple[float, float]:
        """Seconds of wall and CPU for one call that has to find something."""
        done = self.server.call(tool, arguments)
        if len(done.results[0]["structuredContent"]["entities"]) < least:
            raise WrongAnswerError(f"{tool} found too little for {arguments}")
        return done.wall, done.cpu


def measure(runners: Sequence[Runner], floor: Floor, sheet: Sheet) -> None:
    """Each runner in turn does each job, round by round; the slow ones do fewer rounds."""
    for runner in runners:
        runner.ask("open_nodes", {"names": ["Entity 1"]}, 1)  # the graph is there
    time.sleep(_SETTLE)
    size = runners[0].size
    for number in range(4 if sheet.quick else 12):
        for runner in runners:
            _round(runner, sheet, number)
        for _ in range(5):
            sheet.add(f"create {size}", "floor", floor.write(10) * 1e3)
    if size == SIZES[-1]:
        _percentile(runners, floor, sheet)
        for runner in runners:
            sheet.add("memory", runner.column, runner.server.resident_mib())


def _round(runner: Runner, sheet: Sheet, number: int) -> None:
    size, repeats = runner.size, 5 if runner.column == "ours" else 1
    for turn in range(repeats):
        wall, cpu = runner.create(10)
        sheet.add(f"create {size}", runner.column, wall * 1e3, cpu=cpu * 1e3)
        pick = number * repeats + turn
        asked: tuple[tuple[str, str, dict[str, Any]], ...] = (
            ("search", "search_nodes", {"query": WORDS[pick]}),
            ("named", "search_nodes", {"query": f"Entity {pick * 13 + 1}"}),
            ("begun", "search_nodes", {"query": COMMON[:5]}),
            ("common", "search_nodes", {"query": COMMON}),
            ("open", "open_nodes", {"names": [f"Entity {pick * 13 + 1}"]}),
        )
        for job, tool, arguments in asked:
            wall, cpu = runner.ask(tool, arguments, 1)
            sheet.add(f"{job} {size}", runner.column, wall * 1e3, cpu=cpu * 1e3)


def _percentile(runners: Sequence[Runner], floor: Floor, sheet: Sheet) -> None:
    """Single writes one after another, as an agent that has much to note would send them."""
    for _ in range(1 if sheet.quick else 3):
        for runner in runners:
            writes = _SINGLE_WRITES if runner.column == "ours" else 6
            sheet.add("p99", runner.column, _p99(lambda runner=runner: runner.create(1)[0], writes))
        sheet.add("p99", "floor", _p99(lambda: floor.write(1), _SINGLE_WRITES))


def _p99(write: Callable[[], float], writes: int) -> float:
    took = sorted(write() for _ in range(writes))
    return took[int(writes * 0.99)] * 1e3
