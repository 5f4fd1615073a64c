"""The table of one server's suite: a line per job, a column per contestant. Knows nothing of how figures are taken.

Ours stands against the server people use today ("peer") and against the least the job can cost ("floor").
"""

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Literal, NamedTuple

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


@dataclass(slots=True)
class Sheet:
    """Every sample of one suite, and what went wrong."""

    suite: str
    lines: Sequence[Line]
    quick: bool
    machine: Machine = field(default_factory=Machine)
    samples: dict[str, dict[Column, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    pins: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])

    def add(self, quantity: str, column: Column, value: float) -> None:
        assert any(line.quantity == quantity for line in self.lines), quantity
        self.samples[quantity][column].append(value)

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def markdown(self) -> str:
        """The whole report; plain enough to be the terminal's table too."""
        head = ["job", "target", "met", "ours", "peer", "floor"]
        rows = [self._cells(line) for line in self.lines if line.quantity in self.samples]
        mode = " (quick)" if self.quick else ""
        parts = [f"# Benchmarks: {self.suite}{mode}", self.machine.describe(), align([head, *rows])]
        parts.append(
            "In brackets: how many times better ours is. Contestants take turns; best of all rounds unless it says otherwise."
        )
        parts.append("\n".join(f"- {note}" for note in self.pins + self.notes))
        return "\n\n".join(part for part in parts if part) + "\n"

    def save(self) -> Path:
        """Write the table and every sample; a quick look never replaces the full run."""
        FOLDER.mkdir(exist_ok=True)
        name = f"{'quick' if self.quick else 'latest'}-{self.suite}"
        facts = {
            "machine": {**asdict(self.machine), "load_after": os.getloadavg()[0]},
            "pins": self.pins,
            "samples": self.samples,
            "notes": self.notes,
        }
        (FOLDER / f"{name}.json").write_text(json.dumps(facts, indent=1))
        path = FOLDER / f"{name}.md"
        path.write_text(self.markdown())
        return path

    def _cells(self, line: Line) -> list[str]:
        found = {column: line.of(given) for column, given in self.samples[line.quantity].items() if given}
        ours = found.get("ours")
        verdicts = [
            None if ours is None else goal.met(ours, found.get(goal.against) if goal.against else None)
            for goal in line.goals
        ]
        met = "" if not verdicts else "NO" if False in verdicts else "?" if None in verdicts else "yes"
        return [
            f"{line.title}, {line.pick}" if line.pick != "best" else line.title,
            ", ".join(goal.describe() for goal in line.goals),
            met,
            *(_cell(line, found.get(column), None if column == "ours" else ours) for column in COLUMNS),
        ]


def _cell(line: Line, value: float | None, ours: float | None) -> str:
    if value is None:
        return "-"
    if not ours or not value:
        return rounded(value)
    times = ours / value if line.more_is_better else value / ours
    return f"{rounded(value)} ({times:.1f})" if times < 100 else f"{rounded(value)} ({times:.0f})"
