"""Undoing the compression of a body piece by piece, so that a small body cannot become a large one unseen."""

import zlib
from collections.abc import Callable

from .problems import TooMuch, Unreachable

# What we ask for is what we can undo with a bound on what comes out.
ACCEPTED = "gzip, deflate"
_STEP = 256 * 1024
_MEMBERS = 5000
"""Packed files in a row, as some tools write them; empty ones cost time and give nothing."""


class Body:
    """The bytes of a body: counted as they come and as they are unpacked."""

    def __init__(self, coding: str, *, wire_limit: int, limit: int, cut: bool = False) -> None:
        self._feed = _feeder(coding)
        self._wire_limit = wire_limit
        self._limit = limit
        self._cut = cut
        self._wire = 0
        self._size = 0
        self._parts: list[bytes] = []
        self.full = False

    def add(self, data: bytes) -> None:
        """Take a piece from the wire; TooMuch when a limit is passed, unless the rest may be cut off."""
        self._wire += len(data)
        if self._wire > self._wire_limit:
            self._overflow(f"The body is larger than {_mib(self._wire_limit)}")
            return
        try:
            self._feed(data, self._keep)
        except zlib.error:
            raise Unreachable("The body is compressed wrongly and cannot be read.") from None

    def _keep(self, piece: bytes) -> bool:
        room = self._limit - self._size
        if len(piece) > room:
            self._overflow(f"The unpacked body is larger than {_mib(self._limit)}")
            piece = piece[:room]
        self._parts.append(piece)
        self._size += len(piece)
        return not self.full

    def _overflow(self, what: str) -> None:
        self.full = True
        if not self._cut:
            raise TooMuch(f"{what}, the most that is fetched.")

    @property
    def whole(self) -> bool:
        """Whether the packing came to its end. A connection that was cut off looks like one that was closed."""
        return self.full or not self._wire or not isinstance(self._feed, _Inflater) or self._feed.done

    def bytes(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)


def _mib(size: int) -> str:
    return f"{size // (1024 * 1024)} MiB" if size >= 1024 * 1024 else f"{size} bytes"


Keep = Callable[[bytes], bool]


def _feeder(coding: str) -> Callable[[bytes, Keep], None]:
    match coding.strip().lower():
        case "" | "identity":
            return _pass_on
        case "gzip" | "x-gzip":
            return _Inflater(31)
        case "deflate":
            return _Inflater(15)
        case other:
            raise Unreachable(f"The body is packed as {other[:40]!r}, which was not asked for.")


def _pass_on(data: bytes, keep: Keep) -> None:
    keep(data)


class _Inflater:
    """gzip or zlib, also several members in a row; `deflate` without its header, as some servers send it."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._members = 1
        self._raw_tried = bits != 15
        self._inner = zlib.decompressobj(bits)

    @property
    def done(self) -> bool:
        """Whether nothing more has to come."""
        return self._inner.eof

    def __call__(self, data: bytes, keep: Keep) -> None:
        while data:
            data = self._step(data, keep)

    def _step(self, data: bytes, keep: Keep) -> bytes:
        if self._inner.eof:
            if self._bits != 31 or not data.startswith(b"\x1f\x8b"):
                return b""  # padding after the end
            self._members += 1
            if self._members > _MEMBERS:
                raise zlib.error("too many members")
            self._inner = zlib.decompressobj(self._bits)
        try:
            piece = self._inner.decompress(data, _STEP)
        except zlib.error:
            if self._raw_tried:
                raise
            self._inner = zlib.decompressobj(-15)
            piece = self._inner.decompress(data, _STEP)
        self._raw_tried = True
        if not keep(piece):
            return b""
        return self._inner.unused_data if self._inner.eof else self._inner.unconsumed_tail
