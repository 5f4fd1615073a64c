"""What is measured, how it is called in the table, and the figure ours must reach."""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Literal, NamedTuple

from .messages import Revision

Suite = Literal["start", "stdio", "http"]


class Target(NamedTuple):
    limit: float
    text: str


class Row(NamedTuple):
    """One line of the table: the best or the median of one measured quantity."""

    suite: Suite
    quantity: str
    title: str
    pick: Literal["best", "median"]
    target: Target | None = None
    more_is_better: bool = False
    pictured: bool = False

    def of(self, samples: list[float]) -> float:
        if self.pick == "median":
            return median(samples)
        return max(samples) if self.more_is_better else min(samples)

    def times_ours(self, theirs: float, ours: float) -> float:
        """How many times better ours is: over 1 ours is ahead, whichever way the figure points."""
        return ours / theirs if self.more_is_better else theirs / ours

    def met(self, ours: float) -> bool:
        assert self.target is not None
        return ours >= self.target.limit if self.more_is_better else ours <= self.target.limit


HTTP_CPU = Target(250, "<250, aim 200")
# What ours must reach; held against the best of the rounds, not the median.
ROWS = (
    Row("start", "opening cpu", "first answer, CPU ms", "best", Target(130, "<=130, aim 100"), pictured=True),
    Row("start", "opening cpu", "first answer, CPU ms", "median"),
    Row("start", "opening wall", "first answer, wall ms", "best"),
    Row("start", "opening wall", "first answer, wall ms", "median"),
    Row("start", "opening rss", "first answer, MiB", "median", Target(40, "<40"), pictured=True),
    Row("start", "list cpu", "tools/list, CPU ms", "best"),
    Row("start", "list cpu", "tools/list, CPU ms", "median"),
    Row("start", "list wall", "tools/list, wall ms", "best"),
    Row("start", "list wall", "tools/list, wall ms", "median"),
    Row("start", "list rss", "tools/list, MiB", "median"),
    Row(
        "stdio", "one core cpu", "call, one core, CPU us", "best", Target(100, "<100, aim 50"), pictured=True
    ),
    Row("stdio", "one core cpu", "call, one core, CPU us", "median"),
    Row("stdio", "one core wall", "call, one core, latency us", "best", Target(150, "<150")),
    Row("stdio", "one core wall", "call, one core, latency us", "median"),
    Row("stdio", "two cores cpu", "call, two cores, CPU us", "best", Target(100, "<100, aim 50")),
    Row("stdio", "two cores cpu", "call, two cores, CPU us", "median"),
    Row("stdio", "two cores wall", "call, two cores, latency us", "best", Target(150, "<150")),
    Row("stdio", "two cores wall", "call, two cores, latency us", "median"),
    Row("stdio", "pipelined rate", "pipelined, calls/s", "best", Target(10_000, ">10000"), True, True),
    Row("stdio", "pipelined rate", "pipelined, calls/s", "median", None, True),
    Row("stdio", "pipelined cpu", "pipelined, CPU us", "best"),
    Row("stdio", "large wall", "echo 1 MB, ms", "best", Target(5, "<5"), pictured=True),
    Row("stdio", "large cpu", "echo 1 MB, CPU ms", "best"),
    Row("http", "http start cpu", "first answer, CPU ms", "best"),
    Row("http", "http start wall", "first answer, wall ms", "best"),
    Row("http", "http start rss", "first answer, MiB", "median"),
    Row("http", "http one core cpu", "1 connection, one core, CPU us", "best", HTTP_CPU),
    Row("http", "http one core cpu", "1 connection, one core, CPU us", "median"),
    Row("http", "http one core wall", "1 connection, one core, latency us", "best"),
    Row("http", "http one core wall", "1 connection, one core, latency us", "median"),
    Row("http", "http two cores cpu", "1 connection, two cores, CPU us", "best", HTTP_CPU),
    Row("http", "http two cores cpu", "1 connection, two cores, CPU us", "median"),
    Row("http", "http two cores wall", "1 connection, two cores, latency us", "best"),
    Row("http", "http two cores wall", "1 connection, two cores, latency us", "median"),
    Row("http", "http many cpu", "16 connections, CPU us", "best", HTTP_CPU, pictured=True),
    Row("http", "http many cpu", "16 connections, CPU us", "median"),
    Row("http", "http many rate", "16 connections, calls/s", "best", Target(3000, ">3000"), True, True),
    Row("http", "http many rate", "16 connections, calls/s", "median", None, True),
    Row("http", "http many wall", "16 connections, latency us", "best"),
    Row("http", "http crowd cpu", "128 connections, CPU us", "best"),
    Row("http", "http crowd rate", "128 connections, calls/s", "best", None, True),
    Row("http", "http growth", "memory growth, MiB", "best", Target(2, "<2")),
    Row("http", "http listener rss", "each of 500 listeners, KiB", "best", Target(20, "<20")),
    Row("http", "http spread wall", "one change to 500 listeners, ms", "best", Target(1000, "<1000")),
)

# At how many connections which quantity was taken.
CONNECTIONS = {1: "http two cores cpu", 16: "http many cpu", 128: "http crowd cpu"}


@dataclass(slots=True)
class Results:
    """Every sample of one run, by revision, quantity and contestant, and what went wrong."""

    samples: dict[Revision, dict[str, dict[str, list[float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    )
    notes: list[str] = field(default_factory=list[str])

    def add(self, revision: Revision, quantity: str, key: str, value: float) -> None:
        self.samples[revision][quantity][key].append(value)

    def note(self, key: str, text: str) -> None:
        line = f"{key}: {text}"
        if line not in self.notes:
            self.notes.append(line)
