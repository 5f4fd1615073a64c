"""What to look for in a text: plain words, or a regular expression that cannot hold up the server.

Plain text is found in the bytes as they are. A regular expression runs in the `regex` library, which lets go of
the interpreter while it matches and stops at a deadline.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

MAX_PATTERN = 2_000
_SECONDS = 5.0  # of one expression in one block


class TooSlow(Exception):
    """The regular expression needs too long."""


class Needle(Protocol):
    """Something to look for."""

    def offsets(self, block: bytes, start: int) -> Iterator[int]:
        """Where it begins in a block of UTF-8, one after the other."""
        ...


class Plain:
    """The text as it is."""

    def __init__(self, text: str) -> None:
        _check_length(text)
        self._bytes = text.encode("utf-8", "surrogateescape")

    def offsets(self, block: bytes, start: int) -> Iterator[int]:
        found, find, wanted = start, block.find, self._bytes
        while (found := find(wanted, found)) >= 0:
            yield found
            found += 1


class Expression:
    """A regular expression; `^` and `$` stand for the ends of a line."""

    def __init__(self, pattern: str, *, seconds: float = _SECONDS) -> None:
        import regex

        _check_length(pattern)
        try:
            compiled = regex.compile(pattern, regex.MULTILINE)
        except regex.error as error:
            raise ValueError(f"is not a regular expression: {error}") from None
        except (RecursionError, OverflowError, MemoryError):
            raise ValueError("is too complex a regular expression") from None
        if compiled.flags & regex.REVERSE:
            raise ValueError("searches backwards: leave out (?r)")
        self._find: Callable[..., Any] = compiled.finditer
        self._seconds = seconds

    def offsets(self, block: bytes, start: int) -> Iterator[int]:
        # Bytes that are no UTF-8 become one character each, so that they can be counted back.
        text = block[start:].decode("utf-8", "surrogateescape")
        same = len(text) == len(block) - start
        counted = at = 0
        try:
            for match in self._find(text, concurrent=True, timeout=self._seconds):
                found: int = match.start()
                if same:
                    yield start + found
                    continue
                at += len(text[counted:found].encode("utf-8", "surrogateescape"))
                counted = found
                yield start + at
        except TimeoutError:
            raise TooSlow from None


def _check_length(pattern: str) -> None:
    if not 0 < len(pattern) <= MAX_PATTERN:
        raise ValueError(f"must have 1 to {MAX_PATTERN} characters")
