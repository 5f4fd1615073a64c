"""Changes of a text as git shows them. Pure over text; the cost depends on the changes, not on the text."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .editing import Change, patch

_CONTEXT = 3
_MARGIN = 2 * _CONTEXT + 2  # lines
_MOST_COMPARED = 2_000  # lines of one change; a larger one is shown as taken out and put in


class _Swap(NamedTuple):
    """Lines `start` to `end` of the old text, and those that stand there now."""

    start: int
    end: int
    new: list[str]


def git_diff(name: str, text: str, changes: Sequence[Change]) -> str:
    """The changes of a text (line feeds only) in unified format; empty when there are none."""
    said: list[str] = []
    shift = 0
    for window in _windows(text, changes):
        lines = _lines(text[window.start : window.end])
        local = [
            Change(change.start - window.start, change.end - window.start, change.text)
            for change in window.changes
        ]
        swaps = [
            swap
            for region in _regions(lines, text[window.start : window.end], local)
            for swap in _compare(lines, region)
        ]
        for group in _grouped(swaps):
            said += _hunk(lines, group, window.above, shift)
            shift += sum(len(swap.new) - (swap.end - swap.start) for swap in group)
    return "".join([f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n", *said]) if said else ""


class _Window(NamedTuple):
    """Whole lines of the text around some changes, far enough that no hunk goes on outside."""

    start: int
    end: int
    above: int  # lines before it
    changes: list[Change]


def _windows(text: str, changes: Sequence[Change]) -> Iterator[_Window]:
    waiting: list[Change] = []
    start = end = counted = above = 0
    for change in changes:
        first, last = _lines_back(text, change.start), _lines_on(text, change.end)
        if waiting and first > end:
            yield _Window(start, end, above, waiting)
            waiting = []
        if not waiting:
            above += text.count("\n", counted, first)
            start = counted = first
        waiting.append(change)
        end = last
    if waiting:
        yield _Window(start, end, above, waiting)


def _lines_back(text: str, place: int) -> int:
    """Where the line begins that is so far above a place that hunks below and above it never meet."""
    for _ in range(_MARGIN):
        place = text.rfind("\n", 0, place)
        if place < 0:
            return 0
    return place + 1


def _lines_on(text: str, place: int) -> int:
    """The same downwards: where the line after that one begins, or the text ends."""
    for _ in range(_MARGIN):
        place = text.find("\n", place) + 1
        if not place:
            return len(text)
    return place


def _lines(text: str) -> list[str]:
    """Lines with their ends; splitlines() would also split where git does not."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _regions(lines: list[str], text: str, changes: Sequence[Change]) -> Iterator[_Swap]:
    """The changes widened to whole lines; those that share a line are one."""
    starts = [0, *accumulate(map(len, lines))]
    waiting: list[Change] = []
    first = last = -1
    for change in changes:
        begin = bisect_right(starts, change.start) - 1
        if waiting and begin > last:
            yield _region(starts, text, waiting, first, last)
            waiting = []
        if not waiting:
            first = begin
        waiting.append(change)
        last = bisect_right(starts, change.end) - 1
    if waiting:
        yield _region(starts, text, waiting, first, last)


def _region(starts: list[int], text: str, changes: list[Change], first: int, last: int) -> _Swap:
    start, end = starts[first], starts[min(last + 1, len(starts) - 1)]
    moved = [Change(change.start - start, change.end - start, change.text) for change in changes]
    return _Swap(first, min(last + 1, len(starts) - 1), _lines(patch(text[start:end], moved)))


def _compare(lines: list[str], region: _Swap) -> Iterator[_Swap]:
    """The lines of a region that really differ."""
    old, new = lines[region.start : region.end], region.new
    if max(len(old), len(new)) > _MOST_COMPARED:
        yield region
        return
    from difflib import SequenceMatcher  # comes with the first edit

    for kind, start, end, low, high in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind != "equal":
            yield _Swap(region.start + start, region.start + end, new[low:high])


def _grouped(swaps: list[_Swap]) -> Iterator[list[_Swap]]:
    """Swaps whose surroundings meet come in one hunk."""
    group: list[_Swap] = []
    for swap in swaps:
        if group and swap.start - group[-1].end > 2 * _CONTEXT:
            yield group
            group = []
        group.append(swap)
    yield group


def _hunk(lines: list[str], group: list[_Swap], above: int, shift: int) -> list[str]:
    start = max(0, group[0].start - _CONTEXT)
    end = min(len(lines), group[-1].end + _CONTEXT)
    body: list[str] = []
    at = start
    for swap in group:
        body += (f" {line}" for line in lines[at : swap.start])
        body += (f"-{line}" for line in lines[swap.start : swap.end])
        body += (f"+{line}" for line in swap.new)
        at = swap.end
    body += (f" {line}" for line in lines[at:end])
    new = end - start + sum(len(swap.new) - (swap.end - swap.start) for swap in group)
    head = f"@@ -{_range(above + start, end - start)} +{_range(above + start + shift, new)} @@\n"
    return [
        head,
        *(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body),
    ]


def _range(start: int, count: int) -> str:
    # git counts from 1, and names the line before where nothing is left.
    if count == 0:
        return f"{start},0"
    return str(start + 1) if count == 1 else f"{start + 1},{count}"
