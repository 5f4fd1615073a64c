"""JSON in and out: what is read, what is refused, and what is written whatever text it holds."""

import json
import tracemalloc
from contextlib import suppress
from typing import Any

import pytest
from mcp_server_core.errors import PARSE_ERROR, ParseError
from mcp_server_core.protocol.codec import MAX_DEPTH, Spliced, canonical, decode, encode, encode_line

# Reading


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"{}", {}),
        (b' \t\r\n{"a" : [1, -2.5, "x", true, false, null]} \r', {"a": [1, -2.5, "x", True, False, None]}),
        ('"日本 🙂"'.encode(), "日本 🙂"),
        (b'"\\ud83d\\ude42 \\u0000 \\n"', "🙂 \x00 \n"),
        (b"18446744073709551616", 2**64),
        (b"-9223372036854775809", -(2**63) - 1),
    ],
)
def test_json_text_is_read_as_the_value_it_says(text: bytes, value: Any) -> None:
    assert decode(text) == value


def test_an_integer_and_an_integral_float_are_told_apart() -> None:
    # J-2: `1` may be an id, `1.0` may not.
    assert [type(item) for item in decode(b"[1, 1.0, 1e2, true]")] == [int, float, float, bool]


def test_the_last_of_two_equal_keys_wins() -> None:
    # D-7
    assert decode(b'{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_kind_of_buffer_is_read(kind: Any) -> None:
    assert decode(kind(b'{"a":[1]}')) == {"a": [1]}


NOT_JSON = {
    "nothing": b"",
    "blank": b"  ",
    "words": b"hello",
    "cut off": b'{"jsonrpc": "2.0", "id":',
    "two values": b"{} {}",
    "trailing comma": b"[1,]",
    "single quotes": b"{'a': 1}",
    "a comment": b"{} // end",
    "an unquoted key": b"{a: 1}",
    "a number as key": b"{1: 1}",
    "leading zero": b"01",
    "bare point": b"1.",
    "hex": b"0x10",
    "NaN": b"NaN",  # D-7
    "Infinity": b'{"a": Infinity}',  # D-7
    "minus Infinity": b"[-Infinity]",  # D-7
    "float out of range": b"1e400",
    "raw newline in a string": b'"a\nb"',
    "raw NUL in a string": b'"\x00"',
    "NUL": b"\x00",
    "unknown escape": b'"\\x41"',
    "stray continuation byte": b'"\x80"',
    "overlong slash": b'"\xc0\xaf"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "beyond Unicode": b'"\xf4\x90\x80\x80"',
    "cut UTF-8": b'"\xe6\x97"',
    "Latin-1": b'{"caf\xe9": 1}',
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "UTF-16 without mark": '{"a": 1}'.encode("utf-16-le"),
    "UTF-32": '{"a": 1}'.encode("utf-32"),
    "five thousand digits": b"1" * 5000,
    "minus five thousand digits": b'{"id": -' + b"1" * 5000 + b"}",
}


@pytest.mark.parametrize("text", NOT_JSON.values(), ids=NOT_JSON.keys())
def test_what_is_not_json_is_a_parse_error(text: bytes) -> None:
    # S-13, J-1
    with pytest.raises(ParseError) as caught:
        decode(text)
    assert caught.value.code == PARSE_ERROR == -32700


HALVES = {
    "a high half": (b'"a\\ud83d"', "a\ufffd"),
    "a low half": (b'"\\uDE00 b"', "\ufffd b"),
    "halves in the wrong order": (b'"\\udc00\\ud800"', "\ufffd\ufffd"),
    "a half before a whole": (b'"\\ud83d\\ud83d\\ude00"', "\ufffd\U0001f600"),
    "a half as key": (b'{"\\ud800": 1}', {"\ufffd": 1}),
    "a backslash before what looks like a half": (b'["\\\\ud83d", "\\ud83d"]', ["\\ud83d", "\ufffd"]),
}


@pytest.mark.parametrize(("text", "value"), HALVES.values(), ids=HALVES.keys())
def test_half_a_character_is_read_as_unreadable_and_spoils_nothing_else(text: bytes, value: object) -> None:
    # E-10: else the request's id is lost, and its sender waits for ever
    assert decode(text) == value
    assert decode(memoryview(text)) == value


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_a_value_nested_as_deeply_as_allowed_is_read() -> None:
    text = nested(MAX_DEPTH)
    assert decode(text) == json.loads(text)


def test_a_value_nested_one_level_deeper_is_refused() -> None:
    # SEC-17
    with pytest.raises(ParseError):
        decode(nested(MAX_DEPTH + 1))


@pytest.mark.parametrize("depth", [MAX_DEPTH * 2, 900, 10_000, 500_000])
@pytest.mark.parametrize(
    ("opening", "middle", "closing"), [("[", "", "]"), ('{"a":', "1", "}"), ('[{"a":', "0", "}]")]
)
def test_a_nesting_bomb_is_a_parse_error(depth: int, opening: str, middle: str, closing: str) -> None:
    with pytest.raises(ParseError):
        decode((opening * depth + middle + closing * depth).encode())


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_a_nesting_bomb_that_is_never_closed_is_a_parse_error(opening: bytes) -> None:
    with pytest.raises(ParseError):
        decode(opening * 500_000)


@pytest.mark.parametrize("text", [b"[" * 2, b"{}" * 3])
def test_a_flat_message_with_many_brackets_is_not_too_deep(text: bytes) -> None:
    value = {"a": [[] for _ in range(MAX_DEPTH * 3)], "b": (text * MAX_DEPTH).decode()}
    assert decode(json.dumps(value).encode()) == value


# Writing


@pytest.mark.parametrize(
    "text", ["a\nb", "a\r\nb", "\u2028\u2029\x85\x0b\x0c", "\x00\x1f\x7f", '"\\/', "日本 🙂", ""]
)
def test_what_is_written_has_no_line_break_and_reads_back_the_same(text: str) -> None:
    # S-1, S-12
    message = {"jsonrpc": "2.0", "method": text, "params": {text: [text]}}
    written = encode(message)
    assert (written.count(b"\n"), written.count(b"\r"), json.loads(written)) == (0, 0, message)


def test_output_is_compact_and_keeps_the_order_of_members() -> None:
    # S-12, D-7
    assert encode({"b": [1, {"d": None}], "a": "x"}) == b'{"b":[1,{"d":null}],"a":"x"}'


@pytest.mark.parametrize("number", [2**53, 2**63, 2**64, -(2**64), 10**400, 9 * 10**4299])
def test_an_integer_of_any_readable_size_comes_back_digit_for_digit(number: int) -> None:
    # E-10: a huge id is echoed as it came.
    assert encode(decode(b"%d" % number)) == b"%d" % number


@pytest.mark.parametrize("text", ["\ud800", "a\udc80b", "\ude42\ud83d", "\udcff🙂"])
@pytest.mark.parametrize("place", ["value", "key", "in a list", "in a tuple", "deep"])
def test_lone_surrogates_are_written_as_text_that_json_can_carry(text: str, place: str) -> None:
    # J-1: names of files on disk can hold them, UTF-8 cannot.
    shown = text.encode("utf-8", "replace").decode()
    shapes: dict[str, tuple[Any, Any]] = {
        "value": ({"a": text}, {"a": shown}),
        "key": ({text: 1}, {shown: 1}),
        "in a list": ([text], [shown]),
        "in a tuple": ((text, 1), [shown, 1]),
        "deep": ({"a": [{"b": [text]}]}, {"a": [{"b": [shown]}]}),
    }
    value, expected = shapes[place]
    assert json.loads(encode(value)) == expected


# The canonical form


def test_the_canonical_form_does_not_depend_on_the_order_of_members() -> None:
    assert canonical({"b": 1, "a": {"d": 2, "c": 3}}) == canonical({"a": {"c": 3, "d": 2}, "b": 1})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        (1, "1"),
        (1, True),
        (0, False),
        (None, "null"),
        ({}, []),
        ({"a": None}, {}),
        ("", None),
    ],
)
def test_different_values_have_different_canonical_forms(one: Any, other: Any) -> None:
    assert canonical([one]) != canonical([other])


def test_the_canonical_form_takes_lone_surrogates() -> None:
    assert canonical({"\ud800": "\ud800"}) == b'{"?":"?"}'


@pytest.mark.parametrize("value", [{"a": "b\nc"}, [{"id": 1}, {"id": 2}], "text", {"\ud800": ["\udcff"]}])
def test_a_line_is_the_value_and_its_newline(value: Any) -> None:
    assert encode_line(value) == encode(value) + b"\n"


# Parts that are written already

READY = [b'{"rows":[1,"', b'\\"', b'"', b" " * 70_000, b"]}"]


def test_a_part_that_is_written_already_goes_out_as_it_is_and_quoted_as_text() -> None:
    message = {"a": Spliced(READY), "b": [Spliced(READY, quoted=True)], "c": 1}
    whole = b"".join(READY)
    expected = {"a": json.loads(whole), "b": [whole.decode()], "c": 1}
    assert json.loads(encode(message)) == expected
    pieces = encode_line(message)
    assert not isinstance(pieces, bytes)
    assert b"".join(pieces) == encode(message) + b"\n"


def test_a_small_one_is_joined() -> None:
    message = {"a": Spliced([b"[1,", b"2]"])}
    assert encode(message) == b'{"a":[1,2]}'
    assert encode_line(message) == encode(message) + b"\n"


def test_text_that_looks_like_the_place_of_a_part_is_text() -> None:
    message = {"text": "\0spliced\0", "a": Spliced(READY), "b": "\ud800"}
    pieces = encode_line(message)
    written = pieces if isinstance(pieces, bytes) else b"".join(pieces)
    assert json.loads(written) == {"text": "\0spliced\0", "a": json.loads(b"".join(READY)), "b": "?"}


def test_what_is_no_json_value_is_no_part_either() -> None:
    for write in (encode, encode_line):
        with pytest.raises(TypeError):
            write({"a": object()})


@pytest.mark.parametrize(
    "odd", [Spliced(READY), "\ud800", object()], ids=["large part", "half a character", "no JSON"]
)
def test_a_message_that_is_not_written_in_one_go_is_let_go(odd: Any) -> None:
    def write() -> None:
        with suppress(TypeError):
            list(encode_line({"text": "".join(["x"] * 100_000), "odd": odd}))

    tracemalloc.start()
    try:
        write()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(20):
            write()
        assert tracemalloc.get_traced_memory()[0] - before < 100_000
    finally:
        tracemalloc.stop()
