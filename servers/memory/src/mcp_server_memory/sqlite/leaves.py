"""The rows of a store file, read leaf by leaf and without SQLite: what is broken elsewhere does not matter.

SQLite finds a row from the top of a tree, so that one bad page hides all that is below it. The rows themselves stand in
leaves, and of which table they are shows in their values. The layout is in https://www.sqlite.org/fileformat2.html.
Knows nothing of what the rows mean.
"""

import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

_HEADER = 100  # bytes at the beginning of the first page
_LEAF = 13  # the first byte of a leaf with rows
_USUAL_SIZE = 4096
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_WAL_HEADER, _FRAME_HEADER = 32, 24
# What a damaged page makes of an attempt to read it.
_BROKEN = (IndexError, ValueError, struct.error, OverflowError)

Row: TypeAlias = tuple[Any, ...]


class Shape(NamedTuple):
    """What the values of a table's rows are: `k` the number of the row, `i` integer, `t` text, `n` integer or nothing."""

    table: str
    kinds: str

    def fits(self, row: Row) -> bool:
        """Whether a row may be of this table."""
        return len(row) == len(self.kinds) and all(
            isinstance(value, str)
            if kind == "t"
            else isinstance(value, int) or (kind == "n" and value is None)
            for kind, value in zip(self.kinds, row, strict=True)
        )


def rows(path: str, shapes: Mapping[str, str]) -> Iterator[tuple[str, Row]]:
    """Every row that fits one of the shapes, with the name of its table."""
    known = [Shape(table, kinds) for table, kinds in shapes.items()]
    with _Pages(path) as pages:
        unused = pages.unused()
        for number in range(1, pages.count + 1):
            if number in unused:
                continue
            for row in pages.rows_of(number):
                for shape in known:
                    if shape.fits(row):
                        yield shape.table, row
                        break


class _Pages:
    """The pages of a store file, those in its log before those in the file."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115, PTH123 - closed by __exit__
        self._log = None
        with suppress(FileNotFoundError):
            self._log = open(f"{path}-wal", "rb")  # noqa: SIM115, PTH123 - as above
        self._file_size = os.fstat(self._file.fileno()).st_size
        (size,) = struct.unpack(">H", self._file.read(18)[16:18].rjust(2, b"\0"))
        self.size = size if size in {512 << shift for shift in range(7)} else _USUAL_SIZE
        self._logged = self._read_log()
        self.count = max([-(-self._file_size // self.size), *self._logged])

    def __enter__(self) -> "_Pages":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if self._log is not None:
            self._log.close()

    def page(self, number: int) -> bytes:
        """A page, filled up with zeros where the file ends."""
        where = self._logged.get(number)
        if where is not None and self._log is not None:
            self._log.seek(where)
            return self._log.read(self.size)
        self._file.seek((number - 1) * self.size)
        return self._file.read(self.size).ljust(self.size, b"\0")

    def _read_log(self) -> dict[int, int]:
        """Where the log has the newest of each page, as of the last commit in it."""
        committed: dict[int, int] = {}
        if self._log is None:
            return committed
        header = self._log.read(_WAL_HEADER)
        salts, since_commit = header[16:24], dict[int, int]()
        at = _WAL_HEADER
        while len(frame := self._log.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salts:
            number, pages_after = struct.unpack(">II", frame[:8])
            since_commit[number] = at + _FRAME_HEADER
            at += _FRAME_HEADER + self.size
            if self._log.seek(at) != at or at > os.fstat(self._log.fileno()).st_size:
                break
            if pages_after:
                committed |= since_commit
                since_commit = {}
        return committed

    def unused(self) -> set[int]:
        """Pages that SQLite has given up: what stands in them is old."""
        found = set[int]()
        trunk, total = struct.unpack(">II", self.page(1)[32:40])
        while 0 < trunk <= self.count and trunk not in found:
            page = self.page(trunk)
            found.add(trunk)
            trunk, leaves = struct.unpack(">II", page[:8])
            if leaves <= self.size // 4 - 2:
                found.update(struct.unpack_from(f">{leaves}I", page, 8))
        return found if len(found) == total else set()  # else this list is damaged itself

    def rows_of(self, number: int) -> Iterator[Row]:
        """The rows of a page, if it is a leaf; those that make no sense are left out."""
        page = self.page(number)
        start = _HEADER if number == 1 else 0
        if page[start] != _LEAF:
            return
        (count,) = struct.unpack_from(">H", page, start + 3)
        for cell in range(min(count, self.size // 4)):
            with suppress(*_BROKEN):
                (at,) = struct.unpack_from(">H", page, start + 8 + 2 * cell)
                yield self._row(page, at)

    def _row(self, page: bytes, at: int) -> Row:
        length, at = _varint(page, at)
        number, at = _varint(page, at)
        values = _values(self._payload(page, at, length))
        # The number of a row is not stored twice: where it is a column, the column is empty.
        return (number if values[0] is None else values[0], *values[1:])

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """The bytes of a row: in the leaf, and on further pages where it is long."""
        most = self.size - 35
        if length <= most:
            return page[at : at + length]
        if length > self.count * self.size:
            raise ValueError("longer than the file")
        least = (self.size - 12) * 32 // 255 - 23
        here = least + (length - least) % (self.size - 4)
        here = here if here <= most else least
        parts = [page[at : at + here]]
        (following,) = struct.unpack_from(">I", page, at + here)
        missing = length - here
        while missing > 0:
            if not 0 < following <= self.count:
                raise ValueError("the rest is nowhere")
            more = self.page(following)
            (following,) = struct.unpack_from(">I", more)
            parts.append(more[4 : 4 + missing])
            missing -= self.size - 4
        return b"".join(parts)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = 0
    for byte in data[at : at + 8]:
        value, at = value << 7 | byte & 0x7F, at + 1
        if byte < 0x80:
            return value, at
    return value << 8 | data[at], at + 1


def _values(payload: bytes) -> list[Any]:
    """The values of a row. Texts that are broken in themselves keep what can be read of them."""
    end, at = _varint(payload, 0)
    body, values = end, list[Any]()
    while at < end:
        kind, at = _varint(payload, at)
        if kind in _INTEGERS:
            size = _INTEGERS[kind]
            values.append(int.from_bytes(payload[body : body + size], "big", signed=True))
        elif kind in (0, 8, 9):
            size = 0
            values.append((None, 0, 1)[max(kind - 7, 0)])
        elif kind >= 12:
            size = (kind - 12) // 2
            raw = payload[body : body + size]
            values.append(raw.decode(errors="replace") if kind % 2 else raw)
        else:
            raise ValueError("not a value that we write")
        body += size
    if body != len(payload):
        raise ValueError("the values do not fill the row")
    return values
