"""The lines of one file in which something is found, with their neighbours. Reads a block at a time, whatever the size."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .jobs import Job
from .needles import Needle

if TYPE_CHECKING:
    from codecs import IncrementalDecoder

BLOCK = 1 << 18
_LONGEST_SHOWN = 300  # characters of a line
_LONGEST_LINE = 4 * BLOCK  # bytes; a longer one is taken in pieces
_UTF_16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF_8_MARK = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A line with a match, shortened around it, and the lines around it."""

    number: int
    text: str
    before: list[str]
    after: list[str]


def find_lines(fd: int, needle: Needle, context: int, job: Job) -> Iterator[Line]:
    """The lines of an open file that hold the needle. A file with NUL bytes is no text, and has none."""
    first = os.read(fd, BLOCK)
    if len(first) < BLOCK and first[:2] not in _UTF_16:
        # Most files are small and end here.
        text = first.removeprefix(_UTF_8_MARK)
        if not text or next(needle.offsets(text, 0), None) is None or b"\0" in text:
            return iter(())
        return _in_window(_Window(text, 0, None, 1), needle, context)
    return _in_blocks(_blocks(fd, first), needle, context, job)


class _Window(NamedTuple):
    """A part of the text in which matches between `begin` and `end` count; the rest are neighbours."""

    data: bytes
    begin: int
    end: int | None
    number: int  # of the line at `begin`


def _blocks(fd: int, first: bytes) -> Iterator[bytes]:
    """The text as UTF-8, ended by an empty block; nothing at all if it is no text."""
    encoding = _UTF_16.get(first[:2])
    if encoding is None and b"\0" in first:
        return
    decoder: IncrementalDecoder | None = None
    if encoding:
        from codecs import getincrementaldecoder

        decoder = getincrementaldecoder(encoding)("replace")
    block = first[2:] if encoding else first.removeprefix(_UTF_8_MARK)
    while block:
        yield decoder.decode(block).encode("utf-8", "surrogatepass") if decoder else block
        block = os.read(fd, BLOCK)
    yield b""


def _in_blocks(blocks: Iterator[bytes], needle: Needle, context: int, job: Job) -> Iterator[Line]:
    data, begin, number = b"", 0, 1
    for block in blocks:
        job.step(0 if block else 1)
        data += block
        # The last lines wait for the next block: they may go on there, and are neighbours of what comes before.
        end = _cut(data, begin, context + 1) if block else None
        if end == begin:
            continue
        yield from _in_window(_Window(data, begin, end, number), needle, context)
        if end is None:
            return
        number += data.count(b"\n", begin, end)
        kept = _back(data, end, context)
        data, begin = data[kept:], end - kept


def _cut(data: bytes, begin: int, lines: int) -> int:
    """Where the last lines begin, or `begin` when there are no more than those."""
    end = len(data)
    for _ in range(lines):
        newline = data.rfind(b"\n", begin, max(begin, end - 1))
        if newline < 0:
            return len(data) if len(data) - begin > _LONGEST_LINE else begin
        end = newline + 1
    return end


def _back(data: bytes, at: int, lines: int) -> int:
    """Where the line so many lines before the one at `at` begins."""
    for _ in range(lines):
        if at <= 0:
            return 0
        at = data.rfind(b"\n", 0, at - 1) + 1
    return at


def _in_window(window: _Window, needle: Needle, context: int) -> Iterator[Line]:
    data, begin, end, number = window
    last = len(data) if end is None else end
    counted = past = begin
    for found in needle.offsets(data, begin):
        if found >= last:
            if found > last or end is not None:
                return
            if found and data[found - 1 : found] == b"\n":
                return  # an empty match behind the last line
        if found < past:
            continue  # in a line that was told
        start = data.rfind(b"\n", 0, found) + 1
        stop = _line_end(data, found)
        number += data.count(b"\n", counted, start)
        counted, past = start, stop + 1
        before = _shown_lines(data[_back(data, start, context) : start]) if context else []
        after = _following(data, stop, context) if context else []
        yield Line(number, _shorten(data, start, stop, found), before, after)


def _line_end(data: bytes, at: int) -> int:
    end = data.find(b"\n", at)
    return len(data) if end < 0 else end


def _following(data: bytes, stop: int, context: int) -> list[str]:
    end = stop
    for _ in range(context):
        if end >= len(data):
            break
        end = _line_end(data, end + 1)
    return _shown_lines(data[stop + 1 : end])


def _shown_lines(data: bytes) -> list[str]:
    lines = data.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return [_shorten(line, 0, len(line), 0) for line in lines]


def _shorten(data: bytes, start: int, stop: int, found: int) -> str:
    """A line as it is shown: what is around the match, if it is long."""
    if stop - start <= _LONGEST_SHOWN:
        return data[start:stop].decode("utf-8", "replace").rstrip("\r")
    left = max(start, found - _LONGEST_SHOWN // 3)
    right = min(stop, left + _LONGEST_SHOWN)
    text = data[left:right].decode("utf-8", "ignore").rstrip("\r")
    return f"{'...' if left > start else ''}{text}{'...' if right < stop else ''}"
