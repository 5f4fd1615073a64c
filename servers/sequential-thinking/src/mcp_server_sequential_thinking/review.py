"""A chain, made readable: outline, branches side by side, revisions, what is open, Markdown, Mermaid.

Pure: text comes out, and nothing changes. What thinkers wrote is cut to one line or quoted, so that it cannot be
taken for part of the form, and its control characters are spelt out, so that none reaches a terminal.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from .thoughts import MAIN, Chain, Thought, count

View: TypeAlias = Literal["outline", "branches", "revisions", "open", "markdown", "mermaid"]


def review(chain: Chain, view: View) -> str:
    """The chain in one of its views."""
    return "\n".join(_VIEWS[view](Reading(chain))).translate(_SPELT) + "\n"


class Reading:
    """A chain, sorted for reading."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.ways: dict[str, list[Thought]] = {name: [] for name in chain.lines}
        self.revised: defaultdict[int, list[Thought]] = defaultdict(list)  # by ordinal: what revises it
        self.starts: defaultdict[int, list[str]] = defaultdict(list)  # by ordinal: branches that start there
        for thought in chain:
            self.ways[thought.branch].append(thought)
            if thought.revises:
                self.revised[thought.revises].append(thought)
        for name in chain.branches:
            self.starts[chain.lines[name].forks].append(name)

    def head(self) -> Iterator[str]:
        """What every text begins with."""
        chain = self.chain
        revisions = sum(map(len, self.revised.values()))
        counts = [
            count(chain.length, "thought"),
            count(len(chain.branches), "branch"),
            count(revisions, "revision"),
        ]
        yield f"# Chain {chain.id}: {', '.join(counts)}, {'ended' if chain.ended else 'open'}"
        yield ""
        if gone := chain.length - len(chain.thoughts):
            yield f"Let go: the oldest {count(gone, 'thought')}."
            yield ""

    def marks(self, thought: Thought) -> str:
        """What is to be said about a thought besides its text."""
        marks: list[str] = []
        if thought.revises:
            marks.append(f"revises {self.name(thought.revises)}")
        marks += [f"revised by {name_of(by)}" for by in self.revised.get(thought.ordinal, ())]
        if thought.more_needed:
            marks.append("wants more thoughts")
        if not thought.next_needed:
            marks.append("end")
        # Not in brackets: a thought could make a link of those, by a line like `[end]: https://...`.
        return f" ({'; '.join(marks)})" if marks else ""

    def name(self, ordinal: int) -> str:
        """What the thought of an ordinal is called."""
        thought = self.chain.thoughts.get(ordinal)
        return name_of(thought) if thought else "a thought that was let go"


def name_of(thought: Thought) -> str:
    """What a thought is called: its number, and its branch if it is on one."""
    return f"{thought.number} ({thought.branch})" if thought.branch else str(thought.number)


def short(text: str, length: int = 100) -> str:
    """A text on one line, cut where it gets long."""
    line = " ".join(text[: 4 * length].split()).translate(_SPELT)
    return line if len(line) <= length else line[: length - 3].rstrip() + "..."


def questions(text: str) -> list[str]:
    """The sentences of a text that end with a question mark, of whatever script."""
    sentences = (sentence.strip() for sentence in _SENTENCES.split(text))
    return [sentence for sentence in sentences if sentence.rstrip(_CLOSING).endswith(_ASKING)]


# Control characters as Python writes them, but for tabs and the ends of lines.
_SPELT = {
    code: repr(chr(code))[1:-1] for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"
}
_SENTENCES = re.compile(r"(?<=[.!?\u061f])(?=\s)|(?<=[\u3002\uff01\uff1f])|\n")
_ASKING = ("?", "\u061f", "\uff1f")  # Latin, Arabic, wide
_CLOSING = "\"')*_\u201d\u300d"


# The views.


def _outline(reading: Reading) -> Iterator[str]:
    """Each thought on a line, branches below the thought they start from."""
    yield from reading.head()
    held, lines = reading.chain.thoughts, reading.chain.lines
    roots = [MAIN, *(name for name in reading.chain.branches if lines[name].forks not in held)]
    # A stack, not recursion: branches nest up to fifty deep.
    stack = [(0, iter(reading.ways.get(name, ()))) for name in reversed(roots)]
    while stack:
        depth, way = stack[-1]
        thought = next(way, None)
        if thought is None:
            stack.pop()
            continue
        yield f"{'  ' * depth}- {name_of(thought)}: {short(thought.text)}{reading.marks(thought)}"
        stack += [
            (depth + 1, iter(reading.ways[name]))
            for name in reversed(reading.starts.get(thought.ordinal, ()))
        ]


def _branches(reading: Reading) -> Iterator[str]:
    """For each thought that something branches from: what followed it, one way beside the other."""
    yield from reading.head()
    if not reading.starts:
        yield "There are no branches."
    for ordinal, names in reading.starts.items():
        start = reading.chain.thoughts.get(ordinal)
        columns = {name: reading.ways[name] for name in names}
        if start is not None:
            rest = [thought for thought in reading.ways[start.branch] if thought.ordinal > ordinal]
            columns = {start.branch or "main line": rest, **columns} if rest else columns
        text = f": {short(start.text)}" if start else ""
        yield f"## From {reading.name(ordinal)}{text}"
        yield ""
        yield from _table(columns)
        yield ""


def _table(columns: dict[str, list[Thought]]) -> Iterator[str]:
    yield f"| {' | '.join(map(_cell, columns))} |"
    yield "|" + "---|" * len(columns)
    for row in range(max(map(len, columns.values()))):
        cells = [_step(way[row]) if row < len(way) else "" for way in columns.values()]
        yield f"| {' | '.join(map(_cell, cells))} |"


def _step(thought: Thought) -> str:
    return f"{thought.number}. {short(thought.text)}" + ("" if thought.next_needed else " (end)")


def _cell(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _revisions(reading: Reading) -> Iterator[str]:
    """Each revised thought, and what became of it."""
    yield from reading.head()
    if not reading.revised:
        yield "Nothing was revised."
    for ordinal, revisions in reading.revised.items():
        before = reading.chain.thoughts.get(ordinal)
        yield f"## {reading.name(ordinal)}"
        yield ""
        yield from _quote(before.text if before else "")
        for thought in revisions:
            yield f"Revised by {name_of(thought)}:"
            yield ""
            yield from _quote(thought.text)


def _open(reading: Reading) -> Iterator[str]:
    """Where the thinking stopped before its end, and the questions in thoughts that nothing revised since."""
    yield from reading.head()
    found: list[str] = []
    for name, way in reading.ways.items():
        last = way[-1]
        if last.next_needed or last.more_needed:
            where = f"Branch {name}" if name else "The main line"
            found.append(f"- {where} stops at thought {last.number} and wants another: {short(last.text)}")
    for thought in reading.chain:
        if thought.ordinal not in reading.revised:
            asked = questions(thought.text)
            found += [f"- Thought {name_of(thought)} asks: {short(question, 200)}" for question in asked]
    yield from found or ["Nothing is open."]


def _markdown(reading: Reading) -> Iterator[str]:
    """Every thought in full, in the order they came."""
    yield from reading.head()
    for thought in reading.chain:
        branch = f", branch {thought.branch} from {reading.name(thought.forks)}" if thought.branch else ""
        yield f"## Thought {thought.number} of {thought.total}{branch}{reading.marks(thought)}"
        yield ""
        yield from _quote(thought.text)


def _quote(text: str) -> Iterator[str]:
    for line in text.splitlines() or [""]:
        yield f"> {line}".rstrip()
    yield ""


def _mermaid(reading: Reading) -> Iterator[str]:
    """A flowchart: arrows to what came next, dotted ones to what was revised."""
    yield "flowchart TD"
    held = reading.chain.thoughts
    newest: dict[str, int] = {}
    for thought in reading.chain:
        own = f"t{thought.ordinal}"
        yield f'  {own}["{_label(f"{name_of(thought)}: {short(thought.text, 60)}")}"]'
        if thought.branch in newest:
            yield f"  t{newest[thought.branch]} --> {own}"
        elif thought.forks in held:
            yield f'  t{thought.forks} -->|"{_label(thought.branch)}"| {own}'
        if thought.revises in held:
            yield f"  {own} -. revises .-> t{thought.revises}"
        newest[thought.branch] = thought.ordinal


def _label(text: str) -> str:
    """Text for a flowchart: whatever could end its quotes or mean something there is written as a number."""
    return "".join(char if char.isalnum() or char in " .,:()-+=/!?'" else f"#{ord(char)};" for char in text)


_VIEWS: dict[View, Callable[[Reading], Iterator[str]]] = {
    "outline": _outline,
    "branches": _branches,
    "revisions": _revisions,
    "open": _open,
    "markdown": _markdown,
    "mermaid": _mermaid,
}
