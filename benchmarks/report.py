"""The table: for the terminal, as Markdown and as JSON. Knows the figures, not how they were taken."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from .contestants import PYTHON, Contestant
from .drawing import Bars, Curve, Drawing, draw_curves
from .figures import CONNECTIONS, ROWS, Results, Row, Suite
from .machine import Machine
from .messages import HANDSHAKE, STATELESS, Revision

FOLDER = Path(__file__).parent / "results"
FIRST_ANSWER = {HANDSHAKE: "initialize", STATELESS: "server/discover"}
LEGEND = (
    "In brackets: how many times better ours is, so that over 1 ours is ahead. Targets are held against ours, "
    "best of all rounds (memory: median). CPU is user and system time of the server process, all threads. "
    "Latency includes the measuring client's own share, which the floor pays too. "
    "One core: client and server share it, so the figure is the server's own work; two cores: each call also "
    "wakes the other core, as in a host. Starts are not pinned; pipelined, 1 MB, 16 connections and listeners "
    "run on two cores."
)


@dataclass(slots=True)
class Report:
    """One run, ready to be shown."""

    mode: str
    name: str
    suites: Sequence[Suite]
    contestants: Sequence[Contestant]
    results: Results
    machine: Machine

    def markdown(self) -> str:
        """The whole report; plain enough to be the terminal's table too."""
        parts = [f"# Benchmarks: {', '.join(self.suites)} ({self.mode})", self.machine.describe()]
        for suite in self.suites:
            for revision in (HANDSHAKE, STATELESS):
                if table := self._table(suite, revision):
                    parts += [f"## {suite}, revision {revision}", table]
            parts.append(f"![{suite} as a picture]({self._picture_name(suite)})")
        parts += [LEGEND, "\n".join(f"- {note}" for note in self._notes())]
        return "\n\n".join(part for part in parts if part) + "\n"

    def json(self) -> str:
        """Every sample, for whoever wants to draw or doubt it."""
        return json.dumps(
            {
                "mode": self.mode,
                "machine": {**asdict(self.machine), "load_after": os.getloadavg()[0], "interpreter": PYTHON},
                "packages": {one.key: one.packages for one in self.contestants},
                "samples": self.results.samples,
                "notes": self.results.notes,
            },
            indent=1,
        )

    def save(self) -> Path:
        """Write all forms, named after the mode, so that a quick look never replaces the full run."""
        FOLDER.mkdir(exist_ok=True)
        for suite in self.suites:
            (FOLDER / self._picture_name(suite)).write_text(self.picture(suite))
        (FOLDER / f"{self.name}.json").write_text(self.json())
        path = FOLDER / f"{self.name}.md"
        path.write_text(self.markdown())
        return path

    def picture(self, suite: Suite) -> str:
        """The chief figures of a suite, everybody side by side; and how the cost of a call grows with connections."""
        drawing = Drawing()
        for row in ROWS:
            values = self._values(row)
            if row.suite == suite and row.pictured and any(values.values()):
                target = None if row.target is None else row.target.limit
                Bars(f"{suite}: {row.title}, {row.pick}", row.title.split()[-1], values, target=target).draw(
                    drawing
                )
        if suite == "http":
            curves = [self._curve(revision) for revision in (HANDSHAKE, STATELESS)]
            draw_curves(drawing, "How the cost of a call changes with connections", curves)
        return drawing.svg()

    def _values(self, row: Row) -> dict[str, dict[str, float]]:
        return {
            one.title: {
                revision: row.of(samples)
                for revision in (HANDSHAKE, STATELESS)
                if (samples := self.results.samples[revision][row.quantity].get(one.key))
            }
            for one in self.contestants
        }

    def _curve(self, revision: Revision) -> Curve:
        """CPU time of a call over connections; of the SDKs, one of each."""
        series: dict[str, list[tuple[float, float]]] = {}
        for one in self.contestants:
            for connections, quantity in CONNECTIONS.items():
                samples = self.results.samples[revision][quantity].get(one.key)
                if samples and one.key in ("ours", "floor", "mcp-low", "fastmcp", "ts2"):
                    series.setdefault(one.title, []).append((connections, min(samples)))
        return Curve(f"revision {revision}", "connections", "CPU us per call", series)

    def _picture_name(self, suite: Suite) -> str:
        return f"{self.mode}-{suite}.svg"

    def _notes(self) -> list[str]:
        pins = [f"{one.key}: {', '.join(one.packages)}" for one in self.contestants if one.packages]
        return pins + self.results.notes

    def _table(self, suite: Suite, revision: Revision) -> str:
        rows = [row for row in ROWS if row.suite == suite and row.quantity in self.results.samples[revision]]
        if not rows:
            return ""
        head = ["figure", "target", "met", *(one.title for one in self.contestants)]
        body = [self._cells(row, revision) for row in rows]
        return align([head, *body])

    def _cells(self, row: Row, revision: Revision) -> list[str]:
        samples = self.results.samples[revision][row.quantity]
        title = row.title.replace("first answer", FIRST_ANSWER[revision])
        ours = row.of(samples["ours"]) if samples.get("ours") else None
        target, met = "", ""
        if row.target is not None:
            target = row.target.text
            met = "?" if ours is None else "yes" if row.met(ours) else "NO"
        cells = [
            _cell(row, samples.get(one.key), None if one.key == "ours" else ours) for one in self.contestants
        ]
        return [f"{title}, {row.pick}", target, met, *cells]


def _cell(row: Row, samples: list[float] | None, ours: float | None) -> str:
    if not samples:
        return "-"
    value = row.of(samples)
    if ours is None:
        return rounded(value)
    times = row.times_ours(value, ours)
    return f"{rounded(value)} ({times:.1f})" if times < 100 else f"{rounded(value)} ({times:.0f})"


def rounded(value: float) -> str:
    """A figure with as many digits as mean something."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}"


def align(lines: list[list[str]]) -> str:
    """A Markdown table whose source is already straight."""
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    ruler = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    straight = [
        [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
        ]
        for line in [lines[0], ruler, *lines[1:]]
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in straight)
