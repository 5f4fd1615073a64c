"""A file that keeps thoughts: each one is appended and flushed to disk before it is acknowledged.

One line per thought, with a checksum: a line that was torn by a crash spoils only itself. Several processes may
share a file; whoever writes holds `turn()`. Rewriting gives the file a new first line, by which all others notice
that they have to read it again. Everything blocks. Knows nothing of MCP.
"""

import json
import logging
import os
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from zlib import crc32

from mcp_server_core import ToolError
from mcp_server_core.places import Grant, Missing, Places, Spot, replace, turn

from .thoughts import Thought

log = logging.getLogger(__name__)
_MAGIC = b"sequential-thinking journal 1 "
_CHUNK = 1 << 20


class Unreadable(ToolError):
    """The file is not a journal, or cannot be had."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"The file named by --store cannot be used, {problem}.")


class Journal:
    """The thoughts in one file, in the order they were thought."""

    def __init__(self, path: str) -> None:
        # Links are followed once, here: the operator named the file, and nobody else can.
        folder, name = os.path.split(os.path.realpath(path))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - one call; pathlib costs 10 ms
        except OSError as error:
            raise Unreadable(f"its folder cannot be made: {error.strerror}") from None
        self._spot: Spot = Places([Grant(folder)], mode="ignore").resolve(f"./{name}")
        self._first_line = b""
        self._read_to = 0
        self.count = 0
        """Thoughts in the file, with those that nobody holds any more."""

    def is_at(self, path: str) -> bool:
        """Whether this path leads to the file, by whatever name."""
        try:
            return os.path.samefile(path, self._spot.path)  # noqa: PTH121 - pathlib costs 10 ms
        except OSError:
            return False

    @contextmanager
    def turn(self) -> Generator[None]:
        """Keep other writers out, in this process and in others."""
        with turn(self._spot):
            yield

    # Reading.

    def read_new(self) -> tuple[bool, list[tuple[str, Thought]]]:
        """What came since the last time; True before it if the file is another one, and this is all of it."""
        try:
            fd = self._spot.open(os.O_RDONLY)
        except Missing:
            return self._is_another(b""), []
        try:
            anew = self._is_another(_first_line(fd))
            os.lseek(fd, self._read_to, os.SEEK_SET)
            records = [record for line in self._lines(fd) if (record := self._read(line)) is not None]
        finally:
            os.close(fd)
        self.count += len(records)
        return anew, records

    def _is_another(self, first_line: bytes) -> bool:
        if first_line == self._first_line:
            return False
        self._first_line, self._read_to, self.count = first_line, len(first_line), 0
        return True

    def _lines(self, fd: int) -> Generator[bytes]:
        """Whole lines; what has no end yet is somebody's unfinished write, or a torn one."""
        rest = b""
        while chunk := os.read(fd, _CHUNK):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._read_to += len(line) + 1
                yield line

    def _read(self, line: bytes) -> tuple[str, Thought] | None:
        try:
            written, _, body = line.partition(b" ")
            if int(written, 16) != crc32(body):
                raise ValueError
            id, *fields = json.loads(body)
            return id, Thought(*fields)
        except (ValueError, TypeError):
            if line:  # an empty one ends a torn line
                log.warning("a line of the journal is spoilt and was left out")
            return None

    # Writing, within `turn()` and after `read_new()`.

    def append(self, id: str, thought: Thought) -> None:
        """Keep one more thought; when this returns, it is on the disk."""
        if not self._first_line:
            # Private from its first moment; then it appears whole, or not at all.
            os.close(self._spot.open(os.O_WRONLY | os.O_CREAT, 0o600))
            self.rewrite([(id, thought)])
            return
        fd = self._spot.open(os.O_WRONLY | os.O_APPEND)
        try:
            size = os.fstat(fd).st_size
            # Where a write was torn, what follows it starts on a line of its own.
            data = b"\n" * (size > self._read_to) + _line(id, thought)
            with self._spot.explained():
                _write(fd, data, size)
        finally:
            os.close(fd)
        self._read_to = size + len(data)
        self.count += 1

    def tidy(self, records: Iterable[tuple[str, Thought]]) -> None:
        """Rewrite the file if that is possible. What was acknowledged is in the old one too."""
        try:
            self.rewrite(records)
        except ToolError as error:
            log.warning("the journal grows, because it could not be rewritten: %s", error)

    def rewrite(self, records: Iterable[tuple[str, Thought]]) -> None:
        """Replace the file by one that holds just these thoughts, in one step."""
        first_line = _new_first_line()
        count = 0

        def lines() -> Generator[bytes]:
            nonlocal count
            yield first_line
            for id, thought in records:
                count += 1
                yield _line(id, thought)

        written = replace(self._spot, lines())
        self._first_line, self._read_to, self.count = first_line, written.size, count


def _line(id: str, thought: Thought) -> bytes:
    body = json.dumps([id, *thought], separators=(",", ":")).encode()
    return b"%08x %s\n" % (crc32(body), body)


def _new_first_line() -> bytes:
    return _MAGIC + os.urandom(8).hex().encode() + b"\n"


def _first_line(fd: int) -> bytes:
    """The line that tells this file from those before it; nothing for an empty one."""
    length = len(_new_first_line())
    try:
        head = os.read(fd, length)
    except IsADirectoryError:
        raise Unreadable("it is a directory") from None
    if head and (len(head) < length or not head.startswith(_MAGIC)):
        raise Unreadable("it is a file of another kind")
    return head


def _write(fd: int, data: bytes, end: int) -> None:
    """Write at the end and flush; a failure leaves nothing behind."""
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(fd, rest) :]
        os.fsync(fd)
    except OSError:
        with suppress(OSError):
            os.ftruncate(fd, end)
        raise
