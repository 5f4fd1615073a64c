"""Pictures as SVG, written by hand: small text that GitHub shows, and the same for the same figures.

Knows lines, bars and logarithmic scales, and nothing of what they stand for.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

# Of Okabe and Ito: told apart by eyes of every kind, and as shades of grey.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#000000")
_ALWAYS = {"ours": COLOURS[0], "peer": COLOURS[1], "floor": COLOURS[2]}
WIDTH = 860
LETTER = 6.8  # pixels that a letter takes on average
BAR = 13
PANEL = 270
_GREY = "#d8d8d8"


@dataclass(slots=True)
class Drawing:
    """A picture that grows downwards."""

    height: float = 0
    _parts: list[str] = field(default_factory=list[str])

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", bold: bool = False) -> None:
        weight = ' font-weight="bold"' if bold else ""
        self._parts.append(
            f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{colour}"/>'
        )

    def line(
        self, points: Sequence[tuple[float, float]], colour: str, *, width: float = 1, dashes: str = ""
    ) -> None:
        where = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self._parts.append(
            f'<polyline points="{where}" fill="none" stroke="{colour}" stroke-width="{width:g}"{dashed}/>'
        )

    def dot(self, x: float, y: float, colour: str) -> None:
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>')

    def svg(self) -> str:
        """The whole file."""
        size = f'width="{WIDTH}" height="{self.height:.0f}" viewBox="0 0 {WIDTH} {self.height:.0f}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">'
        return (
            "\n".join([head, '<rect width="100%" height="100%" fill="white"/>', *self._parts, "</svg>"])
            + "\n"
        )


class Scale(NamedTuple):
    """A logarithmic scale from one value to another, between two pixels."""

    low: float
    high: float
    start: float
    end: float

    @classmethod
    def over(cls, values: Sequence[float], start: float, end: float) -> "Scale":
        """A scale on which all the values have room, of one decade at least."""
        low, high = min(values) / 1.15, max(values) * 1.15
        if high / low < 10:
            middle = math.sqrt(low * high)
            low, high = middle / math.sqrt(10), middle * math.sqrt(10)
        return cls(low, high, start, end)

    def at(self, value: float) -> float:
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self) -> Iterator[float]:
        """Round values: powers of ten, with 2 and 5 between them where there is room."""
        steps = (1, 2, 5) if self.high / self.low < 300 else (1,)
        for power in range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1):
            for step in steps:
                if self.low <= step * 10.0**power <= self.high:
                    yield step * 10.0**power


class Bars(NamedTuple):
    """Values side by side: a row of bars for each name, a colour for each series."""

    title: str
    unit: str
    rows: Mapping[str, Mapping[str, float]]
    base: float | None = None
    """Where bars begin; at the left edge if left out."""
    target: float | None = None

    def draw(self, on: Drawing) -> None:
        series = list(dict.fromkeys(name for row in self.rows.values() for name in row))
        colours = _colours(series)
        values = [value for row in self.rows.values() for value in row.values()]
        marks = [mark for mark in (self.base, self.target) if mark is not None]
        left = 16 + max(len(name) for name in self.rows) * LETTER
        scale = Scale.over([*values, *marks], left + (36 if self.base else 0), WIDTH - 70)
        top = _head(on, self.title, colours if len(series) > 1 else {})
        step = BAR * len(series) + 7
        bottom = top + step * len(self.rows)
        for tick in scale.ticks():
            on.line([(scale.at(tick), top), (scale.at(tick), bottom)], _GREY)
            on.text(scale.at(tick), bottom + 15, brief(tick), anchor="middle")
        for at, (name, row) in enumerate(self.rows.items()):
            y = top + at * step + 4
            on.text(left - 8, y + (step - 7) / 2 + 4, name, anchor="end")
            for value, colour, nth in (
                (row[one], colours[one], nth) for nth, one in enumerate(series) if one in row
            ):
                begin, end = sorted((scale.at(self.base) if self.base else left, scale.at(value)))
                on.bar(begin, y + nth * BAR, max(end - begin, 1), BAR - 2, colour)
                if self.base is not None and value < self.base:
                    on.text(begin - 4, y + nth * BAR + BAR - 3, brief(value), anchor="end")
                else:
                    on.text(end + 4, y + nth * BAR + BAR - 3, brief(value))
        if self.base is not None:
            on.line([(scale.at(self.base), top), (scale.at(self.base), bottom)], "black")
        if self.target is not None:
            on.line([(scale.at(self.target), top), (scale.at(self.target), bottom)], "black", dashes="4 3")
            on.text(scale.at(self.target) + 4, top - 3, f"target {brief(self.target)}")
        on.text((left + WIDTH - 70) / 2, bottom + 32, f"{self.unit} (logarithmic)", anchor="middle")
        on.height = bottom + 44


class Curve(NamedTuple):
    """How one cost grows: points of each series."""

    title: str
    across: str
    up: str
    series: Mapping[str, Sequence[tuple[float, float]]]


def draw_curves(on: Drawing, title: str, curves: Sequence[Curve]) -> None:
    """Curves beside each other, three in a row, with the same colours in all of them."""
    names = list(dict.fromkeys(name for curve in curves for name in curve.series))
    colours = _colours(names)
    top = _head(on, title, colours)
    wide = WIDTH / 3
    for at, curve in enumerate(curves):
        _draw_curve(on, curve, colours, wide * (at % 3), top + PANEL * (at // 3), wide)
    on.height = top + PANEL * math.ceil(len(curves) / 3)


def _draw_curve(
    on: Drawing, curve: Curve, colours: Mapping[str, str], x: float, y: float, wide: float
) -> None:
    points = [point for line in curve.series.values() for point in line]
    left, right, top, bottom = x + 46, x + wide - 14, y + 40, y + PANEL - 60
    across = Scale.over([point[0] for point in points], left, right)
    up = Scale.over([point[1] for point in points], bottom, top)
    on.text(x + 8, y + 14, curve.title, bold=True)
    on.text(x + 8, y + 30, curve.up)
    for tick in up.ticks():
        on.line([(left, up.at(tick)), (right, up.at(tick))], _GREY)
        on.text(left - 5, up.at(tick) + 4, brief(tick), anchor="end")
    for value in sorted({point[0] for point in points}):
        on.line([(across.at(value), top), (across.at(value), bottom)], _GREY)
        on.text(across.at(value), bottom + 16, brief(value), anchor="middle")
    on.text((left + right) / 2, bottom + 34, curve.across, anchor="middle")
    for name, line in curve.series.items():
        placed = [(across.at(a), up.at(b)) for a, b in line]
        on.line(placed, colours[name], width=2.5)
        for a, b in placed:
            on.dot(a, b, colours[name])


def _head(on: Drawing, title: str, colours: Mapping[str, str]) -> float:
    """A title and what each colour means; where to go on below it."""
    y = on.height + 24
    on.text(8, y, title, bold=True)
    if colours:
        y += 20
        x = 8.0
        for name, colour in colours.items():
            on.bar(x, y - 10, 11, 11, colour)
            on.text(x + 16, y, name)
            x += 36 + len(name) * LETTER
    return y + 20


def _colours(names: Sequence[str]) -> dict[str, str]:
    """A colour for each; ours, the peer and the floor have the same in every picture."""
    free = iter([colour for colour in COLOURS if colour not in {_ALWAYS.get(name) for name in names}])
    return {name: _ALWAYS.get(name) or next(free) for name in names}


def brief(value: float) -> str:
    """A figure in few letters."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"
