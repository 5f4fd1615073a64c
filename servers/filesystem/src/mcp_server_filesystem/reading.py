"""Parts of files as text: by lines from the beginning or from the end, whatever the size of the file.

Memory is bounded by the budget of the answer, not by the file. Knows descriptors, no paths and no protocol.
"""

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from mcp_server_core import ToolError
from mcp_server_core.places import Spot, shown

from .blocks import Stop, find_breaks, narrow_blocks, read_exactly, read_sample
from .media import is_marked, sniff
from .text import SAMPLE, Coding, Decoder, detect

_MOST_BYTES = 4  # of a character
_FIRST_SPAN = 1 << 14  # of the end of a file: a hundred lines mostly fit


class Position(NamedTuple):
    """A line, and a character in it; both count from 1."""

    line: int
    column: int = 1


class Excerpt(NamedTuple):
    """A part of a text. It ends without a line end, unless it ends where the file does."""

    text: str
    coding: Coding
    damaged: bool = False  # some bytes are shown as U+FFFD
    start: Position | None = None  # None: it was found from the end
    next: Position | None = None  # where the text goes on; None at the end of the file
    cut: bool = False  # shorter than was asked for


class Terms(NamedTuple):
    """What holds for every reading of one call."""

    budget: int  # characters
    fallback: str
    stop: Stop


@contextmanager
def opened(spot: Spot) -> Generator[int]:
    """A descriptor of a file, for reading."""
    fd = spot.open(os.O_RDONLY)
    try:
        with spot.explained():
            if stat.S_ISDIR(os.fstat(fd).st_mode):
                raise ToolError(f"{shown(spot.given)} is a directory: list it, or name a file in it.")
            yield fd
    finally:
        os.close(fd)


def read_lines(spot: Spot, terms: Terms, start: Position, limit: int | None) -> Excerpt:
    """The lines from a position on: so many as were asked for, or as fit."""
    with opened(spot) as fd:
        sample = read_sample(fd)
        coding = text_coding(spot, sample, terms.fallback)
        blocks = _skip(narrow_blocks(fd, sample, coding, terms.stop), start.line, spot)
        pages = _Page(coding, sample, terms)
        pages.fill(blocks, start.column - 1, limit, spot)
        return pages.excerpt(start, limit)


def read_tail(spot: Spot, terms: Terms, count: int) -> Excerpt:
    """The last lines."""
    with opened(spot) as fd:
        sample = read_sample(fd)
        coding = text_coding(spot, sample, terms.fallback)
        data, complete = _end(fd, coding, count, terms)
        decoder = _decoder(coding, sample, terms)
        text = decoder.feed(data, final=True)
    start = _start_of_last(text, count)
    cut = start == 0 and not complete  # what was read does not begin where a line does
    if cut or len(text) - start > terms.budget:
        start, cut = max(0, len(text) - terms.budget), True
        line = text.find("\n", start, len(text) - 1)
        start = line + 1 if line >= 0 else start
    return Excerpt(text[start:], _named(coding, decoder), decoder.damaged, cut=cut)


def text_coding(spot: Spot, sample: bytes, fallback: str) -> Coding:
    """What a file is written in; ToolError if it is no text."""
    coding = detect(sample, fallback=fallback, complete=len(sample) < SAMPLE)
    # Data without a zero byte, a PDF for one, would pass as text of one byte per character.
    if coding is None or (coding.codec != "utf-8" and not coding.wide and is_marked(sample)):
        raise ToolError(
            f"{shown(spot.given)} is a binary file ({sniff(sample, spot.name)}), not text: read it as media."
        )
    return coding


def count_lines(fd: int, coding: Coding, stop: Stop) -> int:
    """How many lines a text has; the last one may lack its end."""
    lines, last = 0, b"\n"
    for block in narrow_blocks(fd, read_sample(fd), coding, stop):
        if block:
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last != b"\n")


def _skip(blocks: Iterator[bytes], line: int, spot: Spot) -> Iterator[bytes]:
    """What follows so many lines."""
    missing, last = line - 1, b"\n"
    for block in blocks:
        if missing:
            breaks, end = find_breaks(block, missing)
            if breaks < missing:
                missing, last = missing - breaks, block[-1:] or last
                continue
            block, last, missing = block[end:], b"\n", 0
            if not block:
                block = next((more for more in blocks if more), b"")
                if not block:
                    break
        yield block
        yield from blocks
        return
    if line > 1:
        lines = line - 1 - missing + (last != b"\n")
        raise ToolError(f"{shown(spot.given)} has {lines} lines: line {line} is past its end.")


def _decoder(coding: Coding, sample: bytes, terms: Terms) -> Decoder:
    narrow = Coding("utf-8") if coding.wide else coding
    return Decoder(narrow, fallback=terms.fallback, ascii_so_far=sample.isascii())


def _named(coding: Coding, decoder: Decoder) -> Coding:
    return coding if coding.wide else decoder.coding


class _Page:
    """Collects text until the lines or the characters that were asked for are there."""

    def __init__(self, coding: Coding, sample: bytes, terms: Terms) -> None:
        self._coding = coding
        self._terms = terms
        self._decoder = _decoder(coding, sample, terms)
        self._pieces: list[str] = []
        self._chars = 0
        self._more = False  # the file goes on behind what was collected

    def fill(self, blocks: Iterator[bytes], drop: int, limit: int | None, spot: Spot) -> None:
        """Take what is needed out of the blocks, without the first characters."""
        missing = limit
        for block in blocks:
            if missing is not None:
                breaks, end = find_breaks(block, missing)
                if breaks == missing:
                    self._more = end < len(block) or any(blocks)
                    drop = self._add(block[:end], drop, spot)
                    break
                missing -= breaks
            drop = self._add(block, drop, spot)
            if self._chars > self._terms.budget:
                self._more = any(blocks)
                return
        self._add_text(self._decoder.feed(b"", final=True))
        if drop:
            raise self._past(spot)

    def _add(self, block: bytes, drop: int, spot: Spot) -> int:
        text = self._decoder.feed(block)
        if drop:
            if "\n" in text[:drop]:
                raise self._past(spot)
            text, drop = text[drop:], max(0, drop - len(text))
        self._add_text(text)
        return drop

    def _past(self, spot: Spot) -> ToolError:
        return ToolError(f"{shown(spot.given)} has a shorter line there: the column is past its end.")

    def _add_text(self, text: str) -> None:
        if text:
            self._pieces.append(text)
            self._chars += len(text)

    def excerpt(self, start: Position, limit: int | None) -> Excerpt:
        """What was collected, cut to the budget at the end of a line, or inside one that is too long by itself."""
        text = "".join(self._pieces)
        self._pieces.clear()
        budget = self._terms.budget
        coding, damaged = _named(self._coding, self._decoder), self._decoder.damaged
        end = text.rfind("\n", 0, budget + 1)
        # The last line end of a file never makes a page of its own: nothing is there to go on with.
        if len(text) > budget and (self._more or end + 1 < len(text)):
            if end < 0:
                there = Position(start.line, start.column + budget)
                return Excerpt(text[:budget], coding, damaged, start, there, cut=True)
            there = Position(start.line + text.count("\n", 0, end) + 1)
            return Excerpt(text[:end].removesuffix("\r"), coding, damaged, start, there, cut=True)
        if self._more and limit is not None:
            text = text.removesuffix("\n").removesuffix("\r")
            return Excerpt(text, coding, damaged, start, Position(start.line + limit))
        return Excerpt(text, coding, damaged, start)


def _end(fd: int, coding: Coding, count: int, terms: Terms) -> tuple[bytes, bool]:
    """The end of the file, with enough lines in it or as much as fits; whether that is all of the file."""
    size, first = os.fstat(fd).st_size, len(coding.bom)
    span = _FIRST_SPAN
    while True:
        # Characters of wide encodings begin at multiples of their size.
        start = max(first, size - span - (size - span - first) % _MOST_BYTES)
        data = read_exactly(fd, size - start, start)
        if coding.wide:
            data = data.decode(coding.codec, "replace").encode()
        enough = data.count(b"\n") > count or len(data) > terms.budget * _MOST_BYTES
        if enough or start == first:
            return data, start == first
        if terms.stop():
            raise ToolError("The call was cancelled.")
        span *= 4


def _start_of_last(text: str, count: int) -> int:
    """Where the last lines begin; 0 if there are not so many."""
    position = len(text) - 1 if text.endswith("\n") else len(text)
    for _ in range(count):
        position = text.rfind("\n", 0, position)
        if position < 0:
            return 0
    return position + 1
