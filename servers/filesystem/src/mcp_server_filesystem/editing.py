"""Edits of a text: each finds its place, all are made or none, and what was not meant stays as it is.

Pure over text. An edit matches exactly, or else line by line with whitespace aside; it must match once.
"""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from .nearest import MOST_LINES, describe_nearest
from .text import newline_of

_SHOWN_LINES = 10


class Edit(NamedTuple):
    """What to look for, and what to put there."""

    old: str
    new: str


class Mismatch(ValueError):
    """An edit has no place, or more than one."""


class Change(NamedTuple):
    """A part of the first text, and what stands there now."""

    start: int
    end: int
    text: str


class Edited(NamedTuple):
    """What came out: the text as it is to be written, the changes, and what a reader should know."""

    text: str
    flat: str  # the first text with line feeds only: what the changes count in
    changes: list[Change]
    notes: list[str]


class _Match(NamedTuple):
    start: int
    end: int
    text: str
    line: int = 0  # of a match with whitespace aside


def _go_on() -> None:
    """Nobody stops a short edit."""


def apply(text: str, edits: Sequence[Edit], step: Callable[[], None] = _go_on) -> Edited:
    """Make all edits, one after the other; Mismatch if one of them cannot be made.

    `step` is called before each of them, and may raise.
    """
    ending = newline_of(text)
    flat = _flatten(text, ending)
    current, changes, notes = flat, list[Change](), list[str]()
    for number, edit in enumerate(edits, 1):
        step()
        label = f"Edit {number} of {len(edits)}" if len(edits) > 1 else "The edit"
        found = _find(current, _flatten(edit.old, ending), _flatten(edit.new, ending), label)
        if found.line:
            notes.append(f"{label} matched at line {found.line} with whitespace aside.")
        found = _trim(current, found)
        current = current[: found.start] + found.text + current[found.end :]
        changes = _merge(changes, found)
    changes = [change for change in changes if flat[change.start : change.end] != change.text]
    return Edited(_restore(text, flat, ending, changes), flat, changes, notes)


def _flatten(text: str, ending: str) -> str:
    flat = text.replace("\r\n", "\n")
    return flat.replace("\r", "\n") if ending == "\r" else flat


def _find(text: str, old: str, new: str, label: str) -> _Match:
    if not old:
        raise Mismatch(f"{label} has an empty oldText: give the text that is to be replaced.")
    places = _occurrences(text, old)
    if len(places) == 1:
        return _Match(places[0], places[0] + len(old), new)
    if places:
        raise Mismatch(_several(label, [text.count("\n", 0, place) + 1 for place in places]))
    if text.count("\n") >= MOST_LINES:
        raise Mismatch(
            f"{label} has no match: oldText is not in the file, which has too many lines to look for similar text."
        )
    lines, wanted = text.split("\n"), old.removesuffix("\n").split("\n")
    loose = _find_loosely(lines, wanted)
    if len(loose) == 1:
        return _loose_match(lines, loose[0], wanted, old, new)
    if loose:
        raise Mismatch(_several(f"{label}, with whitespace aside,", [at + 1 for at in loose]))
    raise Mismatch(f"{label} has no match: oldText is not in the file. {describe_nearest(text, old)}")


def _occurrences(text: str, old: str) -> list[int]:
    """Where it begins, overlapping ones included: replacing either would be a guess. No more than can be shown."""
    places: list[int] = []
    place = text.find(old)
    while place >= 0 and len(places) <= _SHOWN_LINES:
        places.append(place)
        place = text.find(old, place + 1)
    return places


def _several(label: str, lines: list[int]) -> str:
    shown = ", ".join(map(str, lines[:_SHOWN_LINES]))
    times, more = (len(lines), "") if len(lines) <= _SHOWN_LINES else (f"more than {_SHOWN_LINES}", ", ...")
    return f"{label} matches {times} times (at lines {shown}{more}): take more of the text around it into oldText."


# --- with whitespace aside ---------------------------------------------------------------------------------------


def _find_loosely(lines: list[str], wanted: list[str]) -> list[int]:
    """The indexes of the lines at which it begins. No more than can be shown."""
    keys = [_key(line) for line in wanted]
    if not any(keys):
        return []
    # As one text, in which the search stays linear however much the lines repeat themselves.
    have = "\n".join(["", *map(_key, lines), ""])
    return [have.count("\n", 0, place) for place in _occurrences(have, "\n".join(["", *keys, ""]))]


def _key(line: str) -> str:
    return " ".join(line.split())


def _loose_match(lines: list[str], at: int, wanted: list[str], old: str, new: str) -> _Match:
    found = lines[at : at + len(wanted)]
    start = sum(map(len, lines[:at])) + at
    end = start + sum(map(len, found)) + len(found) - 1
    replacement = new.removesuffix("\n") if old.endswith("\n") else new
    if old.endswith("\n") and not new.endswith("\n") and at + len(wanted) < len(lines):
        end += 1  # the edit takes the line end away
    text = "\n".join(_indented(replacement.split("\n"), wanted, found)) if replacement else ""
    if not new and old.endswith("\n"):
        text = ""
    return _Match(start, end, text, at + 1)


def _indented(new: list[str], wanted: list[str], found: list[str]) -> list[str]:
    """New lines with the file's own indentation, where the edit was written with another."""
    own = {_indent(line): _indent(there) for line, there in zip(wanted, found, strict=True) if line.strip()}
    if all(theirs == ours for theirs, ours in own.items()):
        return new
    return [_reindent(line, own) for line in new]


def _reindent(line: str, own: dict[str, str]) -> str:
    indent = _indent(line)
    if not line.strip():
        return line
    if indent in own:
        return own[indent] + line[len(indent) :]
    known = max((theirs for theirs in own if indent.startswith(theirs)), key=len, default=None)
    if known is None:
        return line
    return own[known] + _translate(indent[len(known) :], own) + line[len(indent) :]


def _translate(deeper: str, own: dict[str, str]) -> str:
    """Further indentation in the file's unit: tabs for spaces and the other way round."""
    pairs = sorted((len(theirs), len(ours), ours) for theirs, ours in own.items() if theirs and ours)
    if pairs and not deeper.strip(" ") and not pairs[0][2].strip("\t"):
        width, tabs, _ = pairs[0]
        return "\t" * max(1, len(deeper) * tabs // width)
    if pairs and not deeper.strip("\t") and not pairs[0][2].strip(" "):
        tabs, width, _ = pairs[0]
        return " " * (len(deeper) * width // tabs)
    return deeper


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


# --- what changed, counted in the first text ---------------------------------------------------------------------


def _trim(text: str, match: _Match) -> _Match:
    """Only what really differs, so that lines an edit repeats keep their own line ends."""
    old = text[match.start : match.end]
    head = _common(old, match.text)
    tail = _common(old[head:][::-1], match.text[head:][::-1])
    return _Match(match.start + head, match.end - tail, match.text[head : len(match.text) - tail])


def _common(one: str, other: str) -> int:
    """How many characters two texts have in common at the beginning; halving keeps the search in C."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _merge(changes: list[Change], match: _Match) -> list[Change]:
    """Add a change that was made to the text as the earlier ones left it."""
    before, after = list[Change](), list[Change]()
    shift = 0  # from the first text to the present one, behind the changes seen so far
    start = end = None
    left = right = ""
    for change in changes:
        here, there = change.start + shift, change.start + shift + len(change.text)
        grown = shift + len(change.text) - (change.end - change.start)
        if there < match.start:
            before.append(change)
            shift = grown
            continue
        if here > match.end:
            after.append(change)
            if end is None:
                end = match.end - shift
            continue
        if start is None:
            start = min(match.start - shift, change.start)
            left = change.text[: max(0, match.start - here)]
        right = change.text[match.end - here :] if match.end < there else ""
        end = change.end if match.end <= there else None
        shift = grown
        if end is None:
            end = match.end - shift
    if start is None:
        start = match.start - shift
    if end is None:
        end = match.end - shift
    return [*before, Change(start, end, left + match.text + right), *after]


def _restore(text: str, flat: str, ending: str, changes: list[Change]) -> str:
    """The changes made to the text with its own line ends."""
    if ending == "\r":
        return patch(flat, changes).replace("\n", "\r")
    if len(text) == len(flat):
        return patch(text, changes)
    breaks = _carriage_returns(text)
    moved: list[Change] = []
    for change in changes:
        start = change.start + bisect_left(breaks, change.start)
        end = change.end + bisect_left(breaks, change.end)
        local = _ending_near(text, start, end, ending)
        moved.append(Change(start, end, change.text.replace("\n", local)))
    return patch(text, moved)


def _carriage_returns(text: str) -> Sequence[int]:
    """Where the line feeds of CR LF pairs stand in the flattened text."""
    breaks = array("L")
    place = text.find("\r\n")
    while place >= 0:
        breaks.append(place - len(breaks))
        place = text.find("\r\n", place + 2)
    return breaks


def _ending_near(text: str, start: int, end: int, ending: str) -> str:
    """The line end in the replaced part, else that of its line, else that of the file."""
    place = text.find("\n", start, end)
    if place < 0:
        place = text.find("\n", end)
    if place < 0:
        return ending
    return "\r\n" if text[place - 1 : place] == "\r" else "\n"


def patch(text: str, changes: Sequence[Change]) -> str:
    """The text with the changes made."""
    pieces: list[str] = []
    done = 0
    for change in changes:
        pieces += (text[done : change.start], change.text)
        done = change.end
    pieces.append(text[done:])
    return "".join(pieces)
