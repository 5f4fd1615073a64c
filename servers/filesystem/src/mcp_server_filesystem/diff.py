"""Changes of a text as git shows them. Pure over text; the cost depends on the changes, not on the text."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from .editing import Change, patch

_CONTEXT = 3
_MOST_COMPARED = 2_000  # lines of one change; a larger one is shown as taken out and put in


class _Swap(NamedTuple):
    """Lines `start` to `end` of the old text, and those that stand there now."""

    start: int
    end: int
    new: list[str]


def git_diff(name: str, text: str, changes: Sequence[Change]) -> str:
    """The changes of a text (line feeds only) in unified format; empty when there are none."""
    lines = _lines(text)
    swaps = [swap for region in _regions(lines, text, changes) for swap in _compare(lines, region)]
    if not swaps:
        return ""
    said = [f"diff --git a/{name} b/{name}\n--- a/{name}\n+++ b/{name}\n"]
    shift = 0
    for group in _grouped(swaps):
        said += _hunk(lines, group, shift)
        shift += sum(len(swap.new) - (swap.end - swap.start) for swap in group)
    return "".join(said)


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


def _hunk(lines: list[str], group: list[_Swap], shift: int) -> list[str]:
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
    head = f"@@ -{_range(start, end - start)} +{_range(start + shift, new)} @@\n"
    return [
        head,
        *(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in body),
    ]


def _range(start: int, count: int) -> str:
    # git counts from 1, and names the line before where nothing is left.
    if count == 0:
        return f"{start},0"
    return str(start + 1) if count == 1 else f"{start + 1},{count}"
