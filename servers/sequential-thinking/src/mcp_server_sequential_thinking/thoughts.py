"""Thoughts, and the chain they form: what may follow what, and what is let go when a chain grows long.

A thinker numbers its thoughts as it likes and may use a number twice. A chain counts them as they come: that is the
ordinal, and every reference inside a chain is one. Pure: no clock, no file, and nothing of MCP.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

MAX_TEXT = 20_000  # characters of one thought
MAX_NAME = 64  # of the name of a branch
MAX_THOUGHTS = 1000
MAX_BYTES = 4 * 1024 * 1024
MAX_BRANCHES = 50
OVERHEAD = 500  # bytes that a thought takes besides its text, about
STRAIGHT = 10  # thoughts in a row without a revision or a branch, before the thinker is asked to doubt one

MAIN = ""  # the branch that is none


class Misfit(Exception):
    """A step that does not fit its chain; the text says what would."""


class Step(NamedTuple):
    """What a thinker says: a thought, and where it belongs in the thinker's own numbers."""

    text: str
    number: int
    total: int
    next_needed: bool
    revises: int | None = None  # 0: one that was not named
    branch: str = MAIN
    branch_from: int | None = None
    more_needed: bool = False

    @property
    def opens(self) -> bool:
        """Whether this can be the beginning of something new."""
        return self.number == 1 and self.revises is None and not self.branch


class Thought(NamedTuple):
    """A thought in its place. `revises` and `forks` are ordinals, 0 for none."""

    ordinal: int
    number: int
    total: int
    next_needed: bool
    text: str
    at: float
    branch: str = MAIN
    revises: int = 0
    forks: int = 0  # what its branch starts from; the same on every thought of the branch
    more_needed: bool = False

    @property
    def size(self) -> int:
        """Bytes it takes, about."""
        return OVERHEAD + (len(self.text) if self.text.isascii() else 4 * len(self.text))


class Line:
    """The main line or one branch: the newest thought of each number on it."""

    __slots__ = ("count", "forks", "newest")

    def __init__(self, forks: int) -> None:
        self.forks = forks
        self.count = 0
        self.newest: dict[int, int] = {}


class Chain:
    """One line of reasoning with its branches. Holds the newest thoughts, up to a bound."""

    __slots__ = ("_first", "id", "length", "lines", "size", "straight", "thoughts")

    def __init__(self, id: str) -> None:
        self.id = id
        self.thoughts: dict[int, Thought] = {}
        self.lines: dict[str, Line] = {}
        self.length = 0  # with those that were let go
        self.size = 0
        self.straight = 0
        self._first = 1

    def __iter__(self) -> Iterator[Thought]:
        return iter(self.thoughts.values())

    def copy(self) -> "Chain":
        """The chain as it is now, to look at while this one goes on."""
        twin = Chain(self.id)
        for thought in self:
            twin._place(thought)
        return twin

    @property
    def last(self) -> Thought | None:
        """The newest thought."""
        return self.thoughts.get(self.length)

    @property
    def ended(self) -> bool:
        """Whether the newest thought wants no other."""
        return self.last is not None and not self.last.next_needed

    @property
    def branches(self) -> list[str]:
        """The names of the branches, in the order they were made."""
        return [name for name in self.lines if name != MAIN]

    # What may come next.

    def consider(self, step: Step, at: float) -> Thought:
        """The thought that a step would be. Changes nothing; Misfit says what the chain has instead."""
        forks = self._fork(step)
        revises = self._revised(step, forks)
        return Thought(
            self.length + 1,
            step.number,
            max(step.total, step.number),
            step.next_needed,
            step.text,
            at,
            step.branch,
            revises,
            forks,
            step.more_needed,
        )

    def _fork(self, step: Step) -> int:
        """What the step's branch starts from."""
        if not step.branch:
            if step.branch_from is not None:
                raise Misfit("A branch needs a name: pass branchId beside branchFromThought.")
            return 0
        line = self.lines.get(step.branch)
        if line is not None:
            return line.forks
        if len(step.branch) > MAX_NAME:
            raise Misfit(f"The name of a branch has at most {MAX_NAME} characters: shorten branchId.")
        if step.branch_from is None:
            raise Misfit(
                f"There is no branch {step.branch!r}: to start it, pass branchFromThought. {self.describe()}"
            )
        if len(self.branches) >= MAX_BRANCHES:
            raise Misfit(f"A chain has at most {MAX_BRANCHES} branches: go on with one of them.")
        here = self.last.branch if self.last else MAIN
        return self._find(step.branch_from, here, "No branch can start from thought {}").ordinal

    def _revised(self, step: Step, forks: int) -> int:
        if step.revises is None:
            return 0
        if step.revises == 0:
            raise Misfit(f"Which thought is revised? Pass revisesThought. {self.describe()}")
        where = step.branch if step.branch in self.lines else self._branch_of(forks)
        return self._find(step.revises, where, "Thought {} cannot be revised").ordinal

    def _find(self, number: int, branch: str, complaint: str) -> Thought:
        """The thought a number means: on this branch, on those it grew from, or else on the newest that has it."""
        for name in self._nearest_first(branch):
            ordinal = self.lines[name].newest.get(number)
            if ordinal is not None:
                return self.thoughts[ordinal]
        raise Misfit(f"{complaint.format(number)}: it is not in this chain. {self.describe()}")

    def _nearest_first(self, branch: str) -> Iterator[str]:
        seen: set[str] = set()
        while branch in self.lines and branch not in seen:
            seen.add(branch)
            yield branch
            branch = self._branch_of(self.lines[branch].forks)
        yield from (name for name in reversed(self.lines) if name not in seen)

    def _branch_of(self, ordinal: int) -> str:
        thought = self.thoughts.get(ordinal)
        return thought.branch if thought else MAIN

    def describe(self) -> str:
        """One sentence that says which thoughts there are."""
        if not self.thoughts:
            return "This chain has no thoughts yet; to go on with another one, pass its thinkingId."
        parts = [
            f"{f'branch {name!r}' if name else 'the main line'} has {_ranges(line.newest)}"
            for name, line in self.lines.items()
            if line.newest
        ]
        return f"Of the thoughts, {', '.join(parts)}."

    def remark(self, step: Step) -> str:
        """What the thinker should hear about a step that fits, before it is added; mostly nothing."""
        line = self.lines.get(step.branch)
        if step.revises is None and line is not None and step.number in line.newest:
            return f"There was a thought {step.number} already; to replace one, pass isRevision and revisesThought."
        if line is not None and step.branch_from is not None:
            start = self.thoughts.get(line.forks)
            if start is not None and start.number != step.branch_from:
                return f"Branch {step.branch!r} goes on; it starts from thought {start.number}."
        if (
            step.next_needed
            and (self.straight + 1) % STRAIGHT == 0
            and step.revises is None
            and not step.branch
        ):
            return f"{self.straight + 1} thoughts in a straight line: is one worth revising, or another way worth a branch?"
        return ""

    # What is there.

    def add(self, thought: Thought) -> int:
        """Put a thought in its place; how many of the oldest had to go for it."""
        self._place(thought)
        before = len(self.thoughts)
        while len(self.thoughts) > MAX_THOUGHTS or (self.size > MAX_BYTES and len(self.thoughts) > 1):
            self._drop_oldest()
        return before - len(self.thoughts)

    def _place(self, thought: Thought) -> None:
        line = self.lines.get(thought.branch)
        turns = thought.revises or (line is None and thought.branch)
        if line is None:
            line = self.lines[thought.branch] = Line(thought.forks)
        if not self.thoughts:
            self._first = thought.ordinal
        line.newest[thought.number] = thought.ordinal
        line.count += 1
        self.thoughts[thought.ordinal] = thought
        self.length = thought.ordinal
        self.size += thought.size
        self.straight = 0 if turns else self.straight + 1

    def _drop_oldest(self) -> None:
        while self._first not in self.thoughts:  # a journal with a spoilt line leaves a gap
            self._first += 1
        gone = self.thoughts.pop(self._first)
        line = self.lines[gone.branch]
        line.count -= 1
        self.size -= gone.size
        if line.newest.get(gone.number) == gone.ordinal:
            del line.newest[gone.number]
        if not line.count:
            del self.lines[gone.branch]


def count(number: int, noun: str) -> str:
    """A number of things, in words that agree."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number} {noun}{ending}"


def _ranges(numbers: Iterable[int]) -> str:
    """Numbers as a reader likes them: 1-4, 7."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    shown = [str(low) if low == high else f"{low}-{high}" for low, high in runs[:20]]
    return ", ".join(shown) + (" and more" if len(runs) > 20 else "")
