"""Newline framing: chunks of bytes in, whole lines out, with a bound on how long a line may grow."""

from .codec import Malformed

DEFAULT_LIMIT = 64 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Lines:
    """Cuts a stream of bytes into lines. A line over the limit is dropped and reported once."""

    __slots__ = ("_dropping", "_held", "_limit", "_started")

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self._limit = limit
        self._held = bytearray()
        self._dropping = False
        self._started = False

    def feed(self, chunk: bytes) -> list[bytes | Malformed]:
        """Take the next bytes; give back the lines they complete, blank ones left out (S-13)."""
        if b"\n" not in chunk:
            self._hold(chunk)
            return []
        first, *rest = chunk.split(b"\n")
        last = rest.pop()
        found: list[bytes | Malformed] = []
        self._hold(first)
        self._close(found)
        for line in rest:
            if len(line) > self._limit:
                found.append(self._too_long())
            elif line and not line.isspace():
                found.append(line)
        self._hold(last)
        return found

    def end(self) -> list[bytes | Malformed]:
        """The stream is over: a last line without a newline is a line too."""
        found: list[bytes | Malformed] = []
        self._close(found)
        return found

    def _hold(self, piece: bytes) -> None:
        if self._dropping:
            return
        if len(self._held) + len(piece) > self._limit:
            self._held = bytearray()
            self._dropping = True
        else:
            self._held += piece

    def _close(self, found: list[bytes | Malformed]) -> None:
        if self._dropping:
            found.append(self._too_long())
        else:
            line = bytes(self._held)
            if not self._started:
                # Some Windows hosts open the pipe as text and write a byte order mark first.
                line = line.removeprefix(_BOM)
            if line and not line.isspace():
                found.append(line)
        self._held = bytearray()
        self._dropping = False
        self._started = True

    def _too_long(self) -> Malformed:
        return Malformed(f"Parse error: a line is longer than {self._limit} bytes")
