"""What was stored, said back in a bounded way: the text itself is safe, so an answer may shorten it."""

from collections.abc import Sequence
from typing import Any, TypeVar

from .pages import cost, piece_of

T = TypeVar("T")
_LONG = 200
_FEW = 5


def shortened(items: Sequence[T], budget: int) -> tuple[list[T], bool]:
    """The items as they are if they fit, else with long texts and lists cut, else as many as fit; and whether it was cut."""
    if _price(items) <= budget:
        return list(items), False
    kept: list[T] = []
    left = budget
    for item in items:
        short: Any = _cut(item)
        left -= _price(short)
        if left < 0:
            break
        kept.append(short)
    return kept, True


def _price(value: Any) -> int:
    if isinstance(value, str):
        return cost(value)
    parts = value.items() if isinstance(value, dict) else [("", item) for item in value]
    return 10 + sum(len(key) + _price(item) for key, item in parts)


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONG else f"{piece_of(value, 0, _LONG)}... [{len(value)} characters]"
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    more = [f"... [{len(value) - _FEW} more]"] if len(value) > _FEW else []
    return [_cut(item) for item in value[:_FEW]] + more
