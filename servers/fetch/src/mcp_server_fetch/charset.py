"""Bytes to text: which encoding, and by whose word. And text without what nobody can see."""

import codecs
import re
from typing import NamedTuple

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META = re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""", re.IGNORECASE)
_PRESCAN = 4096
_SAMPLE = 32 * 1024
# Browsers read these names as their larger relatives, and so does everyone who writes them.
_LARGER = {
    **dict.fromkeys(("ascii", "iso8859-1", "iso8859_1", "latin_1"), "cp1252"),
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    **dict.fromkeys(("gb2312", "gbk"), "gb18030"),
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "big5": "big5hkscs",
}
# Python codecs that are no encodings of web pages.
_FOREIGN = {
    "utf-7",
    "punycode",
    "idna",
    "raw-unicode-escape",
    "unicode-escape",
    "undefined",
    "palmos",
    "mbcs",
    "oem",
}


class Decoded(NamedTuple):
    """Text, its encoding, and who said so: header, byte order mark, document, or a guess."""

    text: str
    encoding: str
    said_by: str


def decode(data: bytes, header: str | None) -> Decoded:
    """The text of a document. A byte order mark beats the header, as it does in browsers."""
    encoding, said_by = detect(data, header)
    text = data.decode(encoding, "replace").removeprefix("\ufeff")
    return Decoded(text, encoding, said_by)


def detect(data: bytes, header: str | None) -> tuple[str, str]:
    """The encoding of a document, and by whose word."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return encoding, "byte order mark"
    named = known(header)
    # Text in UTF-16 has null bytes for its spaces and its markup: without one, the header is wrong.
    if named and (not named.startswith("utf-16") or b"\x00" in data[:_PRESCAN]):
        return named, "header"
    found = _META.search(data[:_PRESCAN]) or _XML.search(data[:_PRESCAN])
    named = known(found.group(1).decode("ascii")) if found else None
    if named:
        # A page whose declaration can be read as ASCII is not in UTF-16, whatever it declares.
        return ("utf-8" if named.startswith("utf-16") else named), "document"
    return _guess(data), "guess"


def known(name: str | None) -> str | None:
    """The codec for a name found in a page; None if there is none that pages use."""
    if not name:
        return None
    try:
        found = codecs.lookup(name.strip())
        "".encode(found.name)  # some codecs are no text encodings
    except (LookupError, UnicodeError, ValueError):
        return None
    if found.name in _FOREIGN:
        return None
    return _LARGER.get(found.name, found.name)


def _guess(data: bytes) -> str:
    # A sample may end inside a character; what comes before its last few bytes decides.
    sample = data[:_SAMPLE]
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        pass
    else:
        return "utf-8"
    from charset_normalizer import from_bytes

    best = from_bytes(_without_tags(sample)).best()
    return (known(best.encoding) if best is not None else None) or "cp1252"


def _without_tags(sample: bytes) -> bytes:
    """Markup is ASCII in every encoding and drowns the letters that tell them apart."""
    bare = re.sub(rb"<[^>]*>|[ \t\r\n]{2,}", b" ", sample)
    return bare if len(bare) > 40 else sample


# Control characters, the invisible "tag" letters that can carry hidden instructions, zero-width spaces and
# direction overrides. Joiners stay: Persian, Hindi and emoji need them.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u2060-\u2064\u202a-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Text without characters that no reader of the page sees."""
    return _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
