"""Encodings: found, and written back without losing a byte."""

import codecs
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from mcp_server_filesystem.text import (
    Coding,
    Decoder,
    NotText,
    Unencodable,
    charset,
    decode,
    detect,
    newline_of,
)

TEXT = "Grüße, naïve café\n"


@pytest.mark.parametrize(
    ("data", "label"),
    [
        (b"", "UTF-8"),
        (b"plain\n", "UTF-8"),
        (TEXT.encode(), "UTF-8"),
        (codecs.BOM_UTF8 + TEXT.encode(), "UTF-8 with BOM"),
        (codecs.BOM_UTF16_LE + TEXT.encode("utf-16-le"), "UTF-16 LE with BOM"),
        (codecs.BOM_UTF16_BE + TEXT.encode("utf-16-be"), "UTF-16 BE with BOM"),
        (codecs.BOM_UTF32_LE + TEXT.encode("utf-32-le"), "UTF-32 LE with BOM"),
        (codecs.BOM_UTF32_BE + TEXT.encode("utf-32-be"), "UTF-32 BE with BOM"),
        (TEXT.encode("utf-16-le"), "UTF-16 LE"),
        (TEXT.encode("utf-16-be"), "UTF-16 BE"),
        (TEXT.encode("windows-1252"), "windows-1252"),
        (b"caf\xe9 \x81 \x8d\n", "latin-1"),
        (b"# -*- coding: koi8-r -*-\n" + "привет".encode("koi8-r"), "koi8-r"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?>" + "ąę".encode("iso-8859-2"), "iso-8859-2"),
        (b'<meta charset="shift_jis">' + "日本".encode("shift_jis"), "shift_jis"),
        (b"# coding: rot13\ncaf\xe9", "windows-1252"),
        (b"# coding: utf-16\ncaf\xe9", "windows-1252"),
    ],
)
def test_the_encoding_of_a_text_is_found_and_the_bytes_come_back(data: bytes, label: str) -> None:
    text, coding = decode(data)
    assert coding.label == label
    assert coding.encode(text) == data


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\0" * 100, bytes(range(1, 32)) * 9, b"\x7fELF\2\1\1\0"]
)
def test_binary_data_is_told_apart(data: bytes) -> None:
    assert detect(data) is None
    with pytest.raises(NotText):
        decode(data)


def test_the_operator_says_what_texts_without_a_declaration_are_in() -> None:
    text, coding = decode("中文\n".encode("gbk"), fallback="gbk")
    assert (text, coding.label) == ("中文\n", "gbk")


def test_utf8_with_a_bad_byte_stays_utf8_and_keeps_the_byte() -> None:
    data = ("Grüße aus Köln, schöne Grüße\n" * 3).encode() + b"\xff\n"
    text, coding = decode(data)
    assert (coding.label, coding.mixed) == ("UTF-8", True)
    assert coding.encode(text.replace("Köln", "Bonn")) == data.replace("Köln".encode(), b"Bonn")


def test_a_character_that_the_encoding_lacks_is_named_with_its_line() -> None:
    with pytest.raises(Unencodable, match=r"'☃' in line 2 does not exist in windows-1252"):
        Coding("windows-1252").encode("one\ntwo ☃\n")


@pytest.mark.parametrize("name", ["nonsense", "rot13", "utf-16", "cp037", "idna", "hex"])
def test_what_does_not_contain_ascii_is_no_fallback(name: str) -> None:
    with pytest.raises(ValueError, match="no encoding that contains ASCII"):
        charset(name)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("", "\n"),
        ("a\nb\n", "\n"),
        ("a\r\nb\r\n", "\r\n"),
        ("a\rb\r", "\r"),
        ("a\r\nb\r\nc\n", "\r\n"),
        ("a\nb\nc\r\n", "\n"),
    ],
)
def test_the_line_ending_is_the_one_most_lines_have(text: str, ending: str) -> None:
    assert newline_of(text) == ending


@given(st.binary(max_size=400))
@example(codecs.BOM_UTF16_LE + b"\0\xd8a\0")
@example(codecs.BOM_UTF8 + b"\xff")
@example(b"\xff\xfe")
@example(b"\xff\xfe\x00\x00")
def test_any_bytes_come_back_as_they_were_or_are_no_text(data: bytes) -> None:
    try:
        text, coding = decode(data)
    except NotText:
        return
    assert coding.encode(text) == data


@given(st.text(max_size=200), st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-8-sig"]))
def test_unicode_in_every_dress_is_read_as_it_was_meant(text: str, codec: str) -> None:
    if "\0" in text or text.startswith("\ufeff") or detect(text.encode()) is None:
        return
    assert decode(text.encode(codec))[0] == text


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_a_decoder_never_stops_and_gives_clean_text(data: bytes, cuts: list[int]) -> None:
    coding = detect(data)
    if coding is None or coding.wide:
        return
    decoder = Decoder(coding._replace(bom=b""))
    edges = [0, *sorted(cuts), len(data)]
    pieces = [decoder.feed(data[low:high]) for low, high in pairwise(edges)]
    "".join([*pieces, decoder.feed(b"", final=True)]).encode()  # no lone surrogates


def test_a_text_that_was_ascii_so_far_turns_out_to_be_in_the_fallback() -> None:
    decoder = Decoder(Coding("utf-8"))
    assert (
        decoder.feed(b"ascii ") + decoder.feed(b"caf\xe9 ") + decoder.feed(b"na\xefve") == "ascii café naïve"
    )
    assert (decoder.coding.label, decoder.damaged) == ("windows-1252", False)
