"""Server-sent events: however the bytes arrive, the same events come out, and memory stays bounded."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_server_core.errors import ParseError
from mcp_server_core.protocol.sse import KEEP_ALIVE, Event, Events, encode_event

BOM = b"\xef\xbb\xbf"


def read(*chunks: bytes, limit: int = 1024) -> list[Event]:
    """The events in these chunks."""
    events = Events(limit)
    return [event for chunk in chunks for event in events.feed(chunk)]


# Writing.


def test_an_event_is_one_data_line_and_a_blank_line() -> None:
    assert encode_event(b'{"a":1}') == b'data: {"a":1}\n\n'


def test_everything_an_event_can_say_comes_before_its_data() -> None:
    written = encode_event(b"{}", id="7/1", retry=500, event="message")
    assert written == b"event: message\nid: 7/1\nretry: 500\ndata: {}\n\n"


def test_a_keep_alive_is_no_event() -> None:
    assert read(KEEP_ALIVE) == []


@given(
    st.lists(
        st.builds(
            Event,
            data=st.text(st.characters(codec="utf-8", exclude_characters="\r\n")).map(str.encode),
            event=st.sampled_from(["message", "endpoint"]),
            id=st.none() | st.text("0123456789abcdef/-", min_size=1),
            retry=st.none() | st.integers(0, 10**6),
        )
    ),
    st.data(),
)
def test_what_is_written_is_read_back_however_it_is_cut(events: list[Event], data: st.DataObject) -> None:
    stream = b"".join(
        encode_event(event.data, id=event.id, retry=event.retry, event=event.event) for event in events
    )
    assert read(*cut(stream, data), limit=10**6) == events


def cut(stream: bytes, data: st.DataObject) -> Iterable[bytes]:
    """The stream in pieces of any size."""
    places = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    return [stream[start:end] for start, end in zip([0, *places], [*places, len(stream)], strict=True)]


# Reading (D-4).

STREAMS: dict[str, tuple[bytes, list[Event]]] = {
    "LF": (b"data: 1\n\ndata: 2\n\n", [Event(b"1"), Event(b"2")]),
    "CRLF": (b"data: 1\r\n\r\ndata: 2\r\n\r\n", [Event(b"1"), Event(b"2")]),
    "CR": (b"data: 1\r\rdata: 2\r\r", [Event(b"1"), Event(b"2")]),
    "all three": (b"data: 1\r\n\ndata: 2\r\r\n", [Event(b"1"), Event(b"2")]),
    "no space": (b"data:1\n\n", [Event(b"1")]),
    "only one space is dropped": (b"data:  1\n\n", [Event(b" 1")]),
    "several lines of data": (b"data: {\ndata: }\n\n", [Event(b"{\n}")]),
    "comments": (b": hello\ndata: 1\n:\n\n", [Event(b"1")]),
    "byte order mark": (BOM + b"data: 1\n\n", [Event(b"1")]),
    "a name": (b"event: endpoint\ndata: /messages\n\n", [Event(b"/messages", "endpoint")]),
    "priming": (b"id: 1\nretry: 500\ndata: \n\n", [Event(b"", id="1", retry=500)]),
    "an id alone": (b"id: 1\n\n", [Event(b"", id="1")]),
    "retry alone": (b"retry: 0\n\n", [Event(b"", retry=0)]),
    "an id with NUL": (b"id: a\0b\ndata: 1\n\n", [Event(b"1")]),
    "retry that is no number": (b"retry: -5\ndata: 1\n\n", [Event(b"1")]),
    "retry in other digits": ("retry: \u0665\ndata: 1\n\n".encode(), [Event(b"1")]),
    "retry beyond reason": (b"retry: " + b"9" * 500 + b"\ndata: 1\n\n", [Event(b"1")]),
    "unknown field": (b"color: red\ndata: 1\n\n", [Event(b"1")]),
    "a field without colon": (b"data\n\n", [Event(b"")]),
    "no end yet": (b"data: 1\n\ndata: 2\n", [Event(b"1")]),
    "blank lines": (b"\n\n\r\n", []),
    "a name alone": (b"event: x\n\ndata: 1\n\n", [Event(b"1")]),
    "nothing": (b"", []),
}


@pytest.mark.parametrize(("stream", "expected"), STREAMS.values(), ids=STREAMS.keys())
def test_a_stream_gives_the_same_events_however_it_is_cut(stream: bytes, expected: list[Event]) -> None:
    single = [stream[i : i + 1] for i in range(len(stream))]
    for chunks in ([stream], single, *([stream[:i], b"", stream[i:]] for i in range(len(stream) + 1))):
        assert read(*chunks) == expected


@given(st.lists(st.sampled_from([b"\r", b"\n", b":", b" ", b"data", b"id", b"retry", b"7", BOM])), st.data())
def test_any_bytes_give_the_same_events_however_they_are_cut(
    pieces: list[bytes], data: st.DataObject
) -> None:
    stream = b"".join(pieces)
    assert read(*cut(stream, data)) == read(stream)


def test_the_last_id_is_that_of_the_last_whole_event_with_one() -> None:
    events = Events()
    events.feed(b"id: 1\ndata: x\n\ndata: y\n\nid: 2\ndata: z\n")
    assert events.last_id == "1"


@pytest.mark.parametrize("stream", [b"data: " + b"x" * 101, b"data: x\n" * 51, b":" + b"x" * 101])
def test_an_event_over_the_limit_is_refused_as_soon_as_it_is_known(stream: bytes) -> None:
    with pytest.raises(ParseError):
        read(stream, limit=100)


def test_many_small_events_are_not_over_the_limit() -> None:
    assert len(read(b"data: x\n\n" * 1000, limit=100)) == 1000
