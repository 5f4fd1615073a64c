"""Newline framing: however the bytes arrive, the same lines come out, and memory stays bounded."""

import tracemalloc
from collections.abc import Iterable

import pytest
from mcp_server_core.protocol.codec import Malformed
from mcp_server_core.protocol.lines import Lines

BOM = b"\xef\xbb\xbf"
TOO_LONG = "too long"


def shown(lines: Iterable[bytes | Malformed]) -> list[bytes | str]:
    """Lines as they are; what was reported instead of one as TOO_LONG."""
    return [TOO_LONG if isinstance(line, Malformed) else line for line in lines]


def cut(chunks: Iterable[bytes], limit: int = 1024) -> list[bytes | str]:
    """The lines in these chunks."""
    lines = Lines(limit)
    return shown([line for chunk in chunks for line in lines.feed(chunk)])


def every_cut(data: bytes) -> list[list[bytes]]:
    """The data as one chunk, as single bytes, and cut once at each place."""
    single = [data[i : i + 1] for i in range(len(data))]
    return [[data], single, *([data[:i], data[i:]] for i in range(len(data) + 1))]


# S-1: one message per line.

STREAMS: dict[str, tuple[bytes, list[bytes | str]]] = {
    "one line": (b"{}\n", [b"{}"]),
    "several lines": (b"1\n22\n333\n", [b"1", b"22", b"333"]),
    "no end yet": (b"1\n22", [b"1"]),
    "CRLF": (b"1\r\n22\r\n", [b"1\r", b"22\r"]),
    "blank lines": (b"\n\n \t\r\n1\n\r\n\n2\n", [b"1", b"2"]),  # S-13
    "nothing": (b"", []),
    "NUL bytes": (b"\x00\n\x00\x00\n", [b"\x00", b"\x00\x00"]),
    "broken UTF-8": (b"\xff\xfe\n1\n", [b"\xff\xfe", b"1"]),
    "other line breaks": (b'"\xe2\x80\xa8\xc2\x85\x0b\x0c\r"\n', [b'"\xe2\x80\xa8\xc2\x85\x0b\x0c\r"']),
    "a byte order mark": (BOM + b"1\n2\n", [b"1", b"2"]),
    "a byte order mark alone": (BOM + b"\n1\n", [b"1"]),
    "a byte order mark later": (b"1\n" + BOM + b"2\n", [b"1", BOM + b"2"]),
    "two byte order marks": (BOM + BOM + b"1\n", [BOM + b"1"]),
    "half a byte order mark": (b"\xef\xbb1\n", [b"\xef\xbb1"]),
    "a line at the limit": (b"x" * 12 + b"\n1\n", [b"x" * 12, b"1"]),
    "a line over the limit": (b"x" * 13 + b"\n1\n", [TOO_LONG, b"1"]),
    "two lines over the limit": (
        b"1\n" + b"x" * 13 + b"\n" + b"y" * 20 + b"\n2\n",
        [b"1", TOO_LONG, TOO_LONG, b"2"],
    ),
    "a line over the limit without end": (b"1\n" + b"x" * 50, [b"1"]),
}


@pytest.mark.parametrize(("data", "lines"), STREAMS.values(), ids=STREAMS.keys())
def test_the_lines_do_not_depend_on_how_the_bytes_arrive(data: bytes, lines: list[bytes | str]) -> None:
    for chunks in every_cut(data):
        assert cut(chunks, limit=12) == lines, chunks


def test_empty_chunks_change_nothing() -> None:
    assert cut([b"", b"1", b"", b"2\n", b"", b"3\n", b""]) == [b"12", b"3"]


def test_an_empty_chunk_before_the_byte_order_mark_changes_nothing() -> None:
    assert cut([b"", BOM + b"1\n"]) == [b"1"]


# The end of the stream


@pytest.mark.parametrize(
    ("data", "rest"),
    [
        (b"1\n22", [b"22"]),
        (b"1\n22\r", [b"22\r"]),
        (b"1\n", []),
        (b"1\n \r", []),
        (b"", []),
        (b"x" * 12, [b"x" * 12]),
        (b"1\n" + b"x" * 13, [TOO_LONG]),
        (BOM, []),
        (BOM + b"1", [b"1"]),
        (b"\xef\xbb", [b"\xef\xbb"]),
    ],
)
def test_a_last_line_without_a_newline_is_a_line_at_the_end(data: bytes, rest: list[bytes | str]) -> None:
    # S-1
    for chunks in every_cut(data):
        lines = Lines(12)
        for chunk in chunks:
            lines.feed(chunk)
        assert shown(lines.end()) == rest, chunks


def test_after_the_end_nothing_is_left() -> None:
    lines = Lines()
    lines.feed(b"1")
    assert (shown(lines.end()), shown(lines.end())) == ([b"1"], [])


# SEC-17, S-13: a bound on the length of a line.


def test_a_line_over_the_limit_is_reported_once_and_says_the_limit() -> None:
    lines = Lines(10)
    found = [line for chunk in [b"x" * 6] * 50 + [b"\n"] for line in lines.feed(chunk)]
    assert [repr(line) for line in found] == ["Malformed('Parse error: a line is longer than 10 bytes')"]


def test_nothing_is_reported_before_the_line_over_the_limit_ends() -> None:
    assert cut([b"x" * 11], limit=10) == []


def test_the_line_after_one_over_the_limit_is_whole() -> None:
    assert cut([b"x" * 8, b"x" * 8, b'x\n{"id"', b":1}\n"], limit=10) == [TOO_LONG, b'{"id":1}']


def peak_of(chunk: bytes, times: int, limit: int) -> int:
    """The most memory held while a line arrives in many equal chunks."""
    lines = Lines(limit)
    tracemalloc.start()
    try:
        for i in range(times):
            lines.feed(chunk[:-1] + bytes([97 + i % 26]))  # bytes of its own, as a pipe gives them
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_over_the_limit_costs_no_more_memory_than_the_limit() -> None:
    limit = 256 * 1024
    assert peak_of(b"x" * 4096, times=1000, limit=limit) < 2 * limit


def test_a_line_that_arrives_in_tiny_chunks_costs_no_multiple_of_the_limit() -> None:
    # A peer that writes three bytes at a time must not make each of them cost fifty.
    limit = 64 * 1024
    assert peak_of(b"xyz", times=limit // 3, limit=limit) < 4 * limit
