"""What a soak has shown: a table, and whether everything was as at the beginning."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ..machine import Machine
from ..report import align, rounded
from .house import House
from .vitals import Vitals


class Allowance(NamedTuple):
    """How much more there may be at the end: what pools and caches have not given back yet."""

    name: str
    most: float
    share: float = 0
    """Of what there was, besides."""

    def limit(self, before: float) -> float:
        return before * (1 + self.share) + self.most


# memory alone keeps up to eight connections of two files each.
DESCRIPTORS = Allowance("descriptors", 16)
THREADS = Allowance("threads", 8)
CHILDREN = Allowance("children", 0)
MEMORY = Allowance("MiB of memory", 8, 0.1)
STORE = Allowance("MiB on disk", 1, 0.5)
BUSY = 0.2  # seconds of CPU in a second in which nobody asks anything


class Compared(NamedTuple):
    """One quantity before and after, and what it may be."""

    name: str
    before: float
    after: float
    limit: float

    @property
    def held(self) -> bool:
        return self.after <= self.limit

    def show(self) -> str:
        mark = "" if self.held else f" **NO, over {rounded(self.limit)}**"
        return f"{_brief(self.before)} to {_brief(self.after)}{mark}"


class Line(NamedTuple):
    """One process of one server."""

    title: str
    compared: list[Compared]
    opened: Counter[str]
    """Descriptors that were not there before."""


def lines(houses: Sequence[House]) -> Iterator[Line]:
    """Every server, over HTTP and on pipes: the rest after the warm-up beside the last one."""
    for house in houses:
        first, last = house.rests[0], house.rests[-1]
        kept = house.plan.keeps * house.asked / 1024
        for title, before, after in (("HTTP", first.web, last.web), ("stdio", first.kept, last.kept)):
            yield Line(
                f"{house.plan.name}, {title}", list(_compare(before, after, kept)), after.open - before.open
            )


def _compare(before: Vitals, after: Vitals, kept: float) -> Iterator[Compared]:
    for allowance, was, is_ in zip(
        (DESCRIPTORS, THREADS, CHILDREN, MEMORY, STORE), before[:5], after[:5], strict=True
    ):
        extra = kept if allowance is STORE else 0
        yield Compared(allowance.name, was, is_, allowance.limit(was) + extra)


def complaints(houses: Sequence[House]) -> Iterator[str]:
    """Everything that fails the run."""
    for house in houses:
        for oddity, times in Counter(house.oddities).items():
            yield f"{house.plan.name}: {oddity}" + (f" ({times} times)" if times > 1 else "")
        if house.rests[-1].busy > BUSY:
            yield f"{house.plan.name}: works {house.rests[-1].busy:.2f} s in a second in which nobody asks anything"
    for line in lines(houses):
        for compared in line.compared:
            if not compared.held:
                new = f"; new: {dict(line.opened)}" if compared.name == DESCRIPTORS.name else ""
                yield f"{line.title}: {compared.name} {compared.show()}{new}"


def markdown(houses: Sequence[House], machine: Machine, minutes: float, seed: int) -> str:
    """The whole report; plain enough for the terminal."""
    head = ["server", *(one.name for one in (DESCRIPTORS, THREADS, CHILDREN, MEMORY, STORE))]
    table = align([head, *([line.title, *(one.show() for one in line.compared)] for line in lines(houses))])
    visits = sum((house.visits for house in houses), Counter[str]())
    done = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in visits.most_common())
    asked = sum(house.asked for house in houses)
    wrong = list(complaints(houses))
    parts = [
        "# Soak",
        machine.describe(),
        f"{minutes:g} minutes of traffic after the warm-up, seed {seed}: {asked} requests answered in "
        f"{visits.total()} visits ({done}).",
        "From the rest after the warm-up to the last one, when everybody had gone:",
        table,
        f"Allowed: {DESCRIPTORS.most} descriptors and {THREADS.most} threads more (pools), no child more, memory a tenth "
        f"and {MEMORY.most} MiB more, the store half and {STORE.most} MiB more; memory, which forgets nothing, besides that "
        "1 KiB for each request. The time limits of HTTP are those of `servers/hurried.py`.",
        "## What was wrong" if wrong else "Nothing was wrong.",
        "\n".join(f"- {one}" for one in wrong),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _brief(value: float) -> str:
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"
