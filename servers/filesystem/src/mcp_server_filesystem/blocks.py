"""The bytes of an open file, a block at a time, and the line ends in them. Knows descriptors, no paths, no protocol."""

import os
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator

from mcp_server_core import ToolError

from .text import SAMPLE, Coding

_BLOCK = 1 << 20
_FEW = 256  # lines: up to here, finding them one by one is faster than counting all

Stop = Callable[[], bool]
"""Whether nobody waits for the outcome any more."""


def read_sample(fd: int) -> bytes:
    """The beginning of a file, by which it is judged."""
    return os.pread(fd, SAMPLE, 0) if hasattr(os, "pread") else _read_at(fd, SAMPLE, 0)


def read_chunks(fd: int, size: int) -> Iterator[bytes]:
    """The first bytes of a file, so many as it had: one that grows while it is read would never end."""
    os.lseek(fd, 0, os.SEEK_SET)
    while size > 0 and (chunk := os.read(fd, min(size, _BLOCK))):
        size -= len(chunk)
        yield chunk


def _read_at(fd: int, count: int, position: int) -> bytes:
    """As `os.pread`, which Windows lacks; descriptors are never shared here."""
    os.lseek(fd, position, os.SEEK_SET)
    return os.read(fd, count)


def narrow_blocks(fd: int, sample: bytes, coding: Coding, stop: Stop) -> Iterator[bytes]:
    """The file from its beginning, with line feeds of one byte: wide encodings come as UTF-8."""
    blocks = _blocks(fd, sample, coding, stop)
    if not coding.wide:
        yield from blocks
        return
    decoder = getincrementaldecoder(coding.codec)("replace")
    for block in blocks:
        yield decoder.decode(block).encode()
    yield decoder.decode(b"", True).encode()


def _blocks(fd: int, sample: bytes, coding: Coding, stop: Stop) -> Iterator[bytes]:
    yield sample[len(coding.bom) :]
    os.lseek(fd, len(sample), os.SEEK_SET)
    while len(sample) == SAMPLE and (block := os.read(fd, _BLOCK)):
        if stop():
            raise ToolError("The call was cancelled.")
        yield block


def find_breaks(block: bytes, wanted: int) -> tuple[int, int]:
    """How many line feeds there are, of so many wanted, and where the line after the last of them begins."""
    if wanted > _FEW:
        found = block.count(b"\n")
        return (found, 0) if found < wanted else (wanted, _after_break(block, wanted))
    end = 0
    for found in range(wanted):
        end = block.find(b"\n", end) + 1
        if not end:
            return found, 0
    return wanted, end


def _after_break(block: bytes, number: int) -> int:
    """Where the line after the given number of line feeds begins; halving keeps the search in C."""
    low, high = 0, len(block)
    while number > _FEW:
        middle = (low + high) // 2
        breaks = block.count(b"\n", low, middle)
        if breaks >= number:
            high = middle
        else:
            number, low = number - breaks, middle
    return low + find_breaks(block[low:high], number)[1]


def read_exactly(fd: int, count: int, position: int) -> bytes:
    """So many bytes from a position on, or as many as there are."""
    os.lseek(fd, position, os.SEEK_SET)
    chunks: list[bytes] = []
    while count > 0 and (chunk := os.read(fd, min(count, 8 * _BLOCK))):
        chunks.append(chunk)
        count -= len(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
