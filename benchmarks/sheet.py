"""The table of one server's suite: a line per job, a column per contestant. Knows nothing of how figures are taken.

Ours stands against the server people use today ("peer") and against the least the job can cost ("floor").
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

from .drawing import Bars, Curve, Drawing, draw_curves
from .machine import Machine
from .report import FOLDER, align, rounded

Column = Literal["ours", "peer", "floor"]
COLUMNS: tuple[Column, ...] = ("ours", "peer", "floor")


class Goal(NamedTuple):
    """What ours must reach: an absolute figure, or so many times what another column shows.

    `Goal(5)` is at most 5; `Goal(0.5, "peer")` is at most half of the peer's; `more` turns both around.
    """

    limit: float
    against: Column | None = None
    more: bool = False

    def describe(self) -> str:
        sign = ">=" if self.more else "<="
        if self.against is None:
            return f"{sign} {self.limit:g}"
        if not self.more and self.limit < 1:
            return f"{1 / self.limit:g}x ahead of {self.against}"
        return f"{sign} {self.limit:g}x {self.against}"

    def met(self, ours: float, theirs: float | None) -> bool | None:
        """Whether it is reached; None when there is nothing to hold it against."""
        if self.against is not None and theirs is None:
            return None
        limit = self.limit if self.against is None or theirs is None else self.limit * theirs
        return ours >= limit if self.more else ours <= limit


class Line(NamedTuple):
    """One job: what is measured, in which unit, and what ours must reach."""

    quantity: str
    title: str
    goals: tuple[Goal, ...] = ()
    pick: Literal["best", "median", "worst"] = "best"
    more_is_better: bool = False

    def of(self, samples: Sequence[float]) -> float:
        if self.pick == "median":
            return median(samples)
        low, high = min(samples), max(samples)
        return high if self.more_is_better == (self.pick == "best") else low

    def times(self, ours: float, theirs: float) -> float:
        """How many times better ours is, whichever way the figure points."""
        return ours / theirs if self.more_is_better else theirs / ours

    @property
    def full_title(self) -> str:
        return self.title if self.pick == "best" else f"{self.title}, {self.pick}"


class Growth(NamedTuple):
    """How one cost grows with a size: which quantity was taken at which size."""

    title: str
    unit: str
    of: str
    quantities: Mapping[float, str]


@dataclass(slots=True)
class Sheet:
    """Every sample of one suite, and what went wrong."""

    suite: str
    lines: Sequence[Line]
    quick: bool
    growths: Sequence[Growth] = ()
    machine: Machine = field(default_factory=Machine)
    samples: dict[str, dict[Column, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    cpu: dict[str, dict[Column, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    pins: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def add(self, quantity: str, column: Column, value: float, *, cpu: float | None = None) -> None:
        """One sample; `cpu` is what the server process worked meanwhile, in the same unit."""
        assert any(line.quantity == quantity for line in self.lines), quantity
        self.samples[quantity][column].append(value)
        if cpu is not None:
            self.cpu[quantity][column].append(cpu)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def markdown(self) -> str:
        """The whole report; plain enough to be the terminal's table too."""
        head = [
            "job",
            "target",
            "met",
            "ours",
            "peer",
            "floor",
            *(("CPU ours", "CPU peer") if self.cpu else ()),
        ]
        rows = [self._cells(line) for line in self.lines if line.quantity in self.samples]
        mode = " (quick)" if self.quick else ""
        parts = [f"# Benchmarks: {self.suite}{mode}", self.machine.describe(), align([head, *rows])]
        parts.append(f"![the same as a picture]({self._name}.svg)")
        parts.append(
            "In brackets: how many times better ours is. Contestants take turns; best of all rounds unless it says otherwise. "
            "CPU: what the server process itself worked for it, in the same unit; the rest is waiting, for disks, for "
            "the network, for helpers of its own, or for a core."
        )
        parts.append("\n".join(f"- {note}" for note in self.pins + self.notes))
        return "\n\n".join(part for part in parts if part) + "\n"

    def save(self) -> Path:
        """Write the table, the picture and every sample; a quick look never replaces the full run."""
        FOLDER.mkdir(exist_ok=True)
        facts = {
            "machine": {**asdict(self.machine), "load_after": os.getloadavg()[0]},
            "pins": self.pins,
            "samples": self.samples,
            "cpu": self.cpu,
            "notes": self.notes,
        }
        (FOLDER / f"{self._name}.json").write_text(json.dumps(facts, indent=1))
        (FOLDER / f"{self._name}.svg").write_text(self.picture())
        path = FOLDER / f"{self._name}.md"
        path.write_text(self.markdown())
        return path

    def picture(self) -> str:
        """How far ahead ours is in each job, and how each cost grows."""
        drawing = Drawing()
        Bars(
            f"{self.suite}: how many times better ours is (at 1: as good)",
            "to the right of the line ours is ahead, to the left behind",
            dict(self._ratios()),
            base=1,
        ).draw(drawing)
        curves = [curve for growth in self.growths if (curve := self._curve(growth)).series]
        if curves:
            draw_curves(drawing, "How cost grows with size (both axes logarithmic)", curves)
        return drawing.svg()

    @property
    def _name(self) -> str:
        return f"{'quick' if self.quick else 'latest'}-{self.suite}"

    def _ratios(self) -> Iterator[tuple[str, dict[str, float]]]:
        for line in self.lines:
            found = self._found(line)
            ours = found.pop("ours", None)
            ratios = {column: line.times(ours, value) for column, value in found.items() if ours and value}
            if ratios:
                yield line.full_title, {column: ratios[column] for column in COLUMNS if column in ratios}

    def _curve(self, growth: Growth) -> Curve:
        lines = {line.quantity: line for line in reversed(self.lines)}
        series: dict[str, list[tuple[float, float]]] = {}
        for size, quantity in growth.quantities.items():
            found = self._found(lines[quantity])
            for column in COLUMNS:
                if found.get(column):
                    series.setdefault(column, []).append((size, found[column]))
        return Curve(growth.title, growth.of, growth.unit, series)

    def _found(self, line: Line) -> dict[Column, float]:
        """What each column shows for a line."""
        return {column: line.of(given) for column, given in self.samples[line.quantity].items() if given}

    def _cells(self, line: Line) -> list[str]:
        found = self._found(line)
        ours = found.get("ours")
        verdicts = [
            None if ours is None else goal.met(ours, found.get(goal.against) if goal.against else None)
            for goal in line.goals
        ]
        met = "" if not verdicts else "NO" if False in verdicts else "?" if None in verdicts else "yes"
        return [
            line.full_title,
            ", ".join(goal.describe() for goal in line.goals),
            met,
            *(_cell(line, found.get(column), None if column == "ours" else ours) for column in COLUMNS),
            *(self._worked(line, column) for column in COLUMNS[:2] if self.cpu),
        ]

    def _worked(self, line: Line, column: Column) -> str:
        samples = self.cpu[line.quantity].get(column) if line.quantity in self.cpu else None
        return rounded(line.of(samples)) if samples else ""


def _cell(line: Line, value: float | None, ours: float | None) -> str:
    if value is None:
        return "-"
    if not ours or not value:
        return rounded(value)
    times = line.times(ours, value)
    return f"{rounded(value)} ({times:.1f})" if times < 100 else f"{rounded(value)} ({times:.0f})"
