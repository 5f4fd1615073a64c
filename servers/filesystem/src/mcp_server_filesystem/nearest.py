"""The part of a text that most resembles what somebody looked for in vain, and how it differs.

Pure over text. The work is bounded: a few thousand lines are compared closely, the rest only by equality.
"""

from collections import Counter
from collections.abc import Sequence

_LONGEST_SHOWN = 160
_MOST_DIFFERENCES = 3
_MOST_COMPARED = 5_000


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
        if len(key) > 2:  # a lone brace is everywhere
            offsets.setdefault(key, []).append(offset)
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
    for line, key in _candidates(keys, len(target)):
        matcher.set_seq1(key[:_LONGEST_SHOWN])
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best and matcher.ratio() > best:
            best, found = matcher.ratio(), line
    return None if found is None else max(0, found - offset)


def _candidates(keys: Sequence[str], length: int) -> list[tuple[int, str]]:
    alike = [(line, key) for line, key in enumerate(keys) if length < len(key) * 3 and len(key) < length * 3]
    return alike[:_MOST_COMPARED]


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
