"""Results that fit: how much of a text or a list goes into one answer, and where the next one goes on."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
MAX_RESULT_CHARS = 100_000


class Piece(NamedTuple):
    """A part of a text. `next` is where to go on, or None at the end."""

    text: str
    next: int | None
    total: int


class Page(NamedTuple, Generic[T]):
    """Some items of a list. `next` is the index to go on at, or None when there is no more."""

    items: list[T]
    next: int | None


def fit_text(text: str, budget: int, *, start: int = 0) -> Piece:
    """The part of a text from `start` that fits; cut at the end of a line where that costs little."""
    end = start + budget
    if end >= len(text):
        return Piece(text[start:], None, len(text))
    line_end = text.rfind("\n", start + budget * 9 // 10, end)
    if line_end > start:
        end = line_end + 1
    return Piece(text[start:end], end, len(text))


def fit_items(items: Iterable[T], budget: int, size: Callable[[T], int], *, start: int = 0) -> Page[T]:
    """The items from index `start` whose sizes together fit; at least one, so that going on gets somewhere."""
    kept: list[T] = []
    used = 0
    for index, item in enumerate(items):
        if index < start:
            continue
        used += size(item)
        if kept and used > budget:
            return Page(kept, index)
        kept.append(item)
    return Page(kept, None)
