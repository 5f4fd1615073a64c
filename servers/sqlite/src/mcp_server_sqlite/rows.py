"""Rows as JSON text, made batch by batch so that only the text is kept, and never more of it than fits."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from .problems import Problem
from .values import is_cut, is_plain, shape

SHARE = 50  # of the room: what one value may take when there are several rows
_PART = 64 * 1024
Row = tuple[Any, ...]


def encoder() -> Callable[[Any], bytes]:
    """The JSON writer, loaded on first use. It refuses bytes, integers beyond 2^53 and text that is not UTF-8: what it
    takes needs no looking at, which is most of the time that reading a large table takes.
    """
    import orjson

    return partial(orjson.dumps, option=orjson.OPT_STRICT_INTEGER)


class Rows:
    """The rows of one answer. `room` is how many bytes they may take, together."""

    def __init__(self, room: int, columns: int) -> None:
        self.count = 0
        self._parts: list[bytes] = []
        self._last = bytearray()
        self.cut = False
        """Whether a value was too long to be shown in full."""
        self._cell = max(room // SHARE, 8)
        self._room = room
        self._columns = max(columns, 1)
        self._encode = encoder()

    def add(self, batch: Sequence[Row], *, alone: bool = False) -> bool:
        """Take a batch; False when not all of it fits. `alone` says that the answer has one row only, which may
        then have long values.
        """
        if not batch:
            return True
        part = self._write(batch, max(self._cell, self._room // self._columns) if alone else self._cell)
        if len(part) <= self._room:
            self._take(part, len(batch))
            return True
        return self._add_singly(batch)

    def _add_singly(self, batch: Sequence[Row]) -> bool:
        """As many rows of a batch as still fit; the first row of all fits, if need be with shorter values."""
        for row in batch:
            part = self._write((row,), self._cell)
            if len(part) > self._room and not self.count:
                part = self._write((row,), max(self._room // self._columns // 8, 8))
                if len(part) > self._room:
                    raise Problem("Not even one row fits into a result: select fewer columns.")
            if len(part) > self._room:
                return False
            self._take(part, 1)
        return True

    def _write(self, batch: Sequence[Row], limit: int) -> bytes:
        """A batch as JSON, without the outer brackets."""
        try:
            part = self._encode(batch)
            if is_plain(batch, part, limit):
                return part[1:-1]
        except TypeError:  # something that JSON cannot carry as it is
            pass
        self.cut = self.cut or is_cut(batch, limit)
        return self._encode([[shape(value, limit) for value in row] for row in batch])[1:-1]

    def _take(self, part: bytes, count: int) -> None:
        if self.count:
            self._last += b","
        self._last += part
        if len(self._last) > _PART:
            self._finish_part()
        self._room -= len(part) + 1
        self.count += count

    def _finish_part(self) -> None:
        self._parts.append(bytes(self._last))
        self._last.clear()

    def written(self) -> list[bytes]:
        """A JSON list of lists without its brackets, in parts of a good size to be sent."""
        self._finish_part()
        return self._parts
