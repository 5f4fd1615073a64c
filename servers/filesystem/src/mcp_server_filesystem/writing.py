"""New content for files: written, appended or edited, in the encoding the file has.

Whoever changes a text holds the turn of its directory from reading to replacing, so that no change is lost.
Knows allowed places, no protocol.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import NamedTuple

from mcp_server_core import ToolError
from mcp_server_core.places import Changed, Missing, Spot, Stamp, Written, replace, shown, turn

from .blocks import read_chunks
from .diff import git_diff
from .editing import Edit, Edited, Mismatch, apply
from .entries import Step
from .reading import opened
from .text import SAMPLE, Coding, NotText, Unencodable, decode, detect, newline_of

MOST_EDITED = 32 << 20
"""Bytes of the largest file that can be edited: it is held in memory as a whole."""
_TRIES = 3  # of an edit whose file somebody else changes all the time


class Saved(NamedTuple):
    """What became of an edit."""

    diff: str
    notes: list[str]


def write(spot: Spot, content: str, fallback: str) -> Written:
    """Give a file this content; a text that exists keeps its encoding."""
    with _turn(spot):
        return replace(spot, _encode(spot, content, _present_coding(spot, fallback)))


def append(spot: Spot, content: str, fallback: str) -> Written:
    """Add to the end of a file, in its encoding and with its line ends."""
    with _turn(spot):
        if not spot.exists():
            return replace(spot, _encode(spot, content, Coding("utf-8")))
        with opened(spot) as fd:
            stamp = Stamp.of(os.fstat(fd))
            coding, ending = _style(spot, fd, fallback)
            if ending != "\n" and "\r" not in content:
                content = content.replace("\n", ending)
            added = _encode(spot, content, coding, bom=stamp.size == 0)
            return replace(spot, chain(read_chunks(fd, stamp.size), (added,)), expected=stamp)


def edit(
    spot: Spot,
    edits: Sequence[Edit],
    step: Step,
    *,
    fallback: str,
    expected: str | None = None,
    dry_run: bool = False,
) -> Saved:
    """Make all edits in a file or none; what was not to be changed keeps its bytes."""
    if dry_run:
        edited, _, _ = _edited(spot, edits, step, fallback, expected)
        return _saved(spot, edited)
    for attempt in range(_TRIES):
        with turn(spot):
            edited, coding, stamp = _edited(spot, edits, step, fallback, expected)
            if not edited.changes:
                return _saved(spot, edited)
            try:
                replace(spot, _encode(spot, edited.text, coding), expected=stamp)
            except Changed:  # by a program that takes no turns: the edits may fit its text as well
                if attempt + 1 == _TRIES:
                    raise
                continue
            return _saved(spot, edited)
    raise AssertionError("the last attempt returns or raises")


def create_directory(spot: Spot) -> bool:
    """Make a directory and those above it; False if it was there."""
    return spot.mkdir()


@contextmanager
def missing_parent(spot: Spot) -> Generator[None]:
    """Say of a new file that it is its directory that is missing."""
    try:
        yield
    except Missing:
        raise Missing(
            f"{shown(spot.given)} cannot be made, because its directory does not exist: create that first."
        ) from None


@contextmanager
def _turn(spot: Spot) -> Generator[None]:
    with missing_parent(spot), turn(spot):
        yield


def _present_coding(spot: Spot, fallback: str) -> Coding:
    """The encoding of the text that stands there now; UTF-8 where there is none."""
    if not spot.exists():
        return Coding("utf-8")
    with opened(spot) as fd:
        size = os.fstat(fd).st_size
        data = b"".join(read_chunks(fd, size)) if size <= MOST_EDITED else os.read(fd, SAMPLE)
    coding = detect(data, fallback=fallback, complete=size <= MOST_EDITED)
    return coding._replace(mixed=False) if coding else Coding("utf-8")


def _style(spot: Spot, fd: int, fallback: str) -> tuple[Coding, str]:
    """Encoding and line ending of a text that is to be continued."""
    sample = os.read(fd, SAMPLE)
    coding = detect(sample, fallback=fallback, complete=len(sample) < SAMPLE)
    if coding is None:
        raise ToolError(f"{shown(spot.given)} is a binary file: text cannot be added to it.")
    if coding.plain and sample.isascii() and len(sample) == SAMPLE:
        coding = _present_coding(spot, fallback)  # what follows may tell more
    return coding._replace(mixed=False), newline_of(sample.decode(coding.codec, "replace"))


def _edited(
    spot: Spot, edits: Sequence[Edit], step: Step, fallback: str, expected: str | None
) -> tuple[Edited, Coding, Stamp]:
    with opened(spot) as fd:
        found = os.fstat(fd)
        if found.st_size > MOST_EDITED:
            raise ToolError(f"{shown(spot.given)} is larger than {MOST_EDITED >> 20} MiB: too large to edit.")
        data = b"".join(read_chunks(fd, found.st_size))
    if expected is not None:
        _check_digest(spot, data, expected)
    try:
        text, coding = decode(data, fallback=fallback)
        return apply(text, edits, step), coding, Stamp.of(found)
    except NotText as error:
        raise ToolError(f"{shown(spot.given)} cannot be edited: {error}.") from None
    except Mismatch as error:
        raise ToolError(f"{shown(spot.given)} was not changed. {error}") from None


def _check_digest(spot: Spot, data: bytes, expected: str) -> None:
    from hashlib import sha256

    if sha256(data).hexdigest() != expected.strip().lower():
        raise Changed(
            f"{shown(spot.given)} has changed since it was read: read it again, then repeat the change."
        )


def _encode(spot: Spot, text: str, coding: Coding, *, bom: bool = True) -> bytes:
    try:
        return coding.encode(text.removeprefix("\ufeff") if coding.bom else text, bom=bom)
    except Unencodable as error:
        raise ToolError(
            f"{shown(spot.given)} was not changed: {error}, in which the file is written. "
            "Use other characters, or delete the file first to have it written anew as UTF-8."
        ) from None


def _saved(spot: Spot, edited: Edited) -> Saved:
    name = "/".join(spot.parts)
    return Saved(git_diff(name, edited.flat, edited.changes), edited.notes)
