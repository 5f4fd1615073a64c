"""The part of a text that most resembles what somebody looked for in vain, and how it differs.

Pure over text. The work is bounded: a few hundred lines are compared closely, the rest only by equality, and a line
that is repeated in what was looked for counts a few times at most.
"""

from collections import Counter
from collections.abc import Sequence

_LONGEST_SHOWN = 160
_MOST_DIFFERENCES = 3
_MOST_GLANCED_AT = 10_000
_MOST_COMPARED = 500
_MOST_REPEATED = 8
MOST_LINES = 300_000
"""Lines of the longest text that is compared line by line: more would take hundreds of megabytes."""


def describe_nearest(text: str, wanted: str) -> str:
    """One or a few lines for whoever has to correct what they looked for."""
    lines, sought = text.split("\n"), wanted.strip("\n").split("\n")
    keys, sought_keys = [line.strip() for line in lines], [line.strip() for line in sought]
    at = _by_equal_lines(keys, sought_keys)
    if at is None:
        at = _by_similar_line(keys, sought_keys)
    if at is None:
        return "Nothing in it resembles that text: read the file again."
    return _compare(lines, sought, at)


def _by_equal_lines(keys: Sequence[str], sought: Sequence[str]) -> int | None:
    """Where most lines are the same as those looked for."""
    offsets: dict[str, list[int]] = {}
    for offset, key in enumerate(sought):
        known = offsets.setdefault(key, [])
        if len(key) > 2 and len(known) < _MOST_REPEATED:  # a lone brace is everywhere
            known.append(offset)
    votes: Counter[int] = Counter()
    for line, key in enumerate(keys):
        for offset in offsets.get(key, ()):
            votes[max(0, line - offset)] += 1
    return votes.most_common(1)[0][0] if votes else None


def _by_similar_line(keys: Sequence[str], sought: Sequence[str]) -> int | None:
    """Where a line resembles the longest of those looked for."""
    from difflib import SequenceMatcher  # rarely needed

    offset = max(range(len(sought)), key=lambda index: len(sought[index]))
    target = sought[offset][:_LONGEST_SHOWN]
    matcher = SequenceMatcher(None, b=target)
    best, found = 0.6, None
    compared = 0
    alike = [(line, key) for line, key in enumerate(keys) if len(target) < len(key) * 3 < len(target) * 9]
    for line, key in alike[:_MOST_GLANCED_AT]:
        matcher.set_seq1(key[:_LONGEST_SHOWN])
        if matcher.real_quick_ratio() <= best or matcher.quick_ratio() <= best:
            continue
        compared += 1
        if matcher.ratio() > best:
            best, found = matcher.ratio(), line
        if compared == _MOST_COMPARED:
            break
    return None if found is None else max(0, found - offset)


def _compare(lines: Sequence[str], sought: Sequence[str], at: int) -> str:
    last = min(at + len(sought), len(lines))
    said = [
        f"The nearest text is at line {at + 1}"
        if last - at < 2
        else f"The nearest text is at lines {at + 1}-{last}"
    ]
    said[0] += ", with these differences:"
    differences = [
        (line, here, there)
        for line, (here, there) in enumerate(zip(lines[at:last], sought, strict=False), at + 1)
        if here.split() != there.split()
    ]
    for line, here, there in differences[:_MOST_DIFFERENCES]:
        said += (
            f"line {line} is      {_shown(here)}",
            f"oldText has {' ' * len(str(line))}  {_shown(there)}",
        )
    if len(differences) > _MOST_DIFFERENCES:
        said.append(f"and {len(differences) - _MOST_DIFFERENCES} more lines.")
    if not differences:
        said[0] = said[0].removesuffix(", with these differences:") + ": the lines are the same, but oldText "
        said[0] += "begins or ends inside a line, or goes on past the end of the file."
    return "\n".join(said)


def _shown(line: str) -> str:
    return repr(line if len(line) <= _LONGEST_SHOWN else line[:_LONGEST_SHOWN] + "...")
