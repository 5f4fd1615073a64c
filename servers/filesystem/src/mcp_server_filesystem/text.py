"""Text in bytes: which encoding, which line endings, and the way to text and back without losing a byte.

Pure: knows nothing of files, paths or protocols.
"""

import re
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE, getincrementaldecoder
from typing import NamedTuple

SAMPLE = 1 << 16
"""So many bytes of a file decide what it is."""
FALLBACK = "windows-1252"
_CONTROLLED = 1 << 12  # so many are looked at for control characters, which costs more than all the rest

# The longer ones first: UTF-32 begins like UTF-16.
_BOMS = (
    (BOM_UTF8, "utf-8"),
    (BOM_UTF32_LE, "utf-32-le"),
    (BOM_UTF32_BE, "utf-32-be"),
    (BOM_UTF16_LE, "utf-16-le"),
    (BOM_UTF16_BE, "utf-16-be"),
)
# Names a text may give itself, as Python sources, XML and HTML do.
_DECLARED = re.compile(rb"(?:coding|charset)\s*[:=]\s*[\"']?\s*([A-Za-z0-9][A-Za-z0-9._-]{1,30})")
# Codecs that mean more than characters, or that other bytes than the line feed can end a line in.
_NO_CHARSETS = {"idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape", "utf_7", "utf-7"}
_PROBE = "\n\r\t aZ09<>\"'#"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b")) + b"\x7f"
_CONTROL_CHARACTERS = frozenset(_CONTROLS.decode("ascii"))
_ESCAPED = re.compile("[\udc80-\udcff]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class NotText(ValueError):
    """The bytes are no text, or none that could be written back as it was."""


class Unencodable(ValueError):
    """A text holds a character that its file's encoding does not have."""


class Coding(NamedTuple):
    """How the bytes of a file are to be read."""

    codec: str
    bom: bytes = b""
    mixed: bool = False  # it holds bytes that do not fit

    @property
    def label(self) -> str:
        """The name to show."""
        name = self.codec.upper() if self.codec.startswith("utf") else self.codec
        name = name.replace("-LE", " LE").replace("-BE", " BE")
        return f"{name} with BOM" if self.bom else name

    @property
    def plain(self) -> bool:
        """Whether it is what everybody expects."""
        return self == _PLAIN

    @property
    def wide(self) -> bool:
        """Whether a line feed is more than one byte."""
        return self.codec.startswith(("utf-16", "utf-32"))

    @property
    def _errors(self) -> str:
        # Bytes that do not fit, and halves of pairs, come back out as they went in.
        return "surrogatepass" if self.wide else "surrogateescape" if self.mixed else "strict"

    def decode(self, data: bytes) -> str:
        """The text without its byte order mark."""
        return data[len(self.bom) :].decode(self.codec, self._errors)

    def encode(self, text: str, *, bom: bool = True) -> bytes:
        """The bytes of a text; Unencodable when the encoding lacks a character."""
        try:
            return (self.bom if bom else b"") + text.encode(self.codec, self._errors)
        except UnicodeEncodeError as error:
            line = text.count("\n", 0, error.start) + 1
            missing = text[error.start].encode("ascii", "backslashreplace").decode()
            shown = text[error.start] if text[error.start].isprintable() else missing
            raise Unencodable(
                f"the character '{shown}' in line {line} does not exist in {self.label}"
            ) from None


_PLAIN = Coding("utf-8")


def charset(name: str) -> str:
    """A codec that reads ASCII as ASCII, and so finds its line ends; ValueError for any other name."""
    try:
        if name.lower() not in _NO_CHARSETS and _PROBE.encode(name) == _PROBE.encode("ascii"):
            return name.lower()
    except (LookupError, UnicodeError):
        pass
    raise ValueError(f"{name!r} is no encoding that contains ASCII: name one such as windows-1252 or gbk")


def detect(sample: bytes, *, fallback: str = FALLBACK, complete: bool = False) -> Coding | None:
    """What the beginning of a file, or with `complete` all of it, is written in; None if it is no text."""
    for bom, codec in _BOMS:
        if sample.startswith(bom) and (bom == BOM_UTF8 or _fits(sample, codec, complete)):
            rest = sample[len(bom) :]
            return Coding(codec, bom, mixed=bom == BOM_UTF8 and not _fits(rest, codec, complete))
    head = sample[:SAMPLE]
    if b"\0" in head:
        return _wide_without_bom(head)
    start = head[:_CONTROLLED]
    if len(start.translate(None, _CONTROLS)) < len(start) * 0.95:
        return None
    if _fits(sample, "utf-8", complete):
        return _PLAIN
    if _mostly_utf8(sample):
        return Coding("utf-8", mixed=True)
    return _single(sample, fallback, complete)


def decode(data: bytes, *, fallback: str = FALLBACK) -> tuple[str, Coding]:
    """All of a file as text that can be written back byte for byte; NotText if that cannot be."""
    coding = detect(data, fallback=fallback, complete=True)
    if coding is None:
        raise NotText("it holds binary data")
    try:
        text = coding.decode(data)
        if coding.codec == "utf-8" or coding.encode(text) == data:
            return text, coding
    except (UnicodeError, Unencodable):
        pass
    raise NotText(f"it is damaged: not all of it is {coding.label}")


def newline_of(text: str) -> str:
    """The line ending that a text uses, or mostly uses."""
    feeds = text.count("\n")
    if not feeds:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text.count("\r\n") * 2 > feeds else "\n"


class Decoder:
    """Text out of one piece of bytes after the other, for showing: bytes that do not fit never stop it.

    A text that was plain ASCII up to there turns out to be in the fallback encoding; in any other one they become
    U+FFFD, and `damaged` says so.
    """

    __slots__ = ("_ascii", "_decoder", "_fallback", "coding", "damaged")

    def __init__(self, coding: Coding, *, fallback: str = FALLBACK, ascii_so_far: bool = True) -> None:
        self.coding = coding
        self.damaged = False
        self._fallback = fallback
        self._ascii = ascii_so_far
        self._decoder = getincrementaldecoder(coding.codec)("strict")

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """The text of the next bytes; what is incomplete waits for more."""
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError:
            rest = bytes(self._decoder.getstate()[0]) + data
            self._change(rest, final)
            text = self._decoder.decode(rest, final)
        self._ascii = self._ascii and text.isascii()
        return text

    def _change(self, rest: bytes, final: bool) -> None:
        if self.coding.plain and self._ascii and not _mostly_utf8(rest):
            self.coding = _single(rest, self._fallback, final)
            self._decoder = getincrementaldecoder(self.coding.codec)("replace")
        else:
            self.damaged = True
            self._decoder = getincrementaldecoder(self.coding.codec)("replace")


def _fits(sample: bytes, codec: str, complete: bool) -> bool:
    try:
        getincrementaldecoder(codec)("strict").decode(sample, complete)
    except UnicodeDecodeError:
        return False
    return True


def _wide_without_bom(head: bytes) -> Coding | None:
    """UTF-16 of a text with many ASCII characters, as some Windows programs write it."""
    units = len(head) // 2
    high_last, high_first = head[1::2].count(0), head[::2].count(0)
    for zeros, others, codec in ((high_last, high_first, "utf-16-le"), (high_first, high_last, "utf-16-be")):
        if zeros * 10 > units * 4 and others * 100 < units and _is_clean(head[: units * 2], codec):
            return Coding(codec)
    return None


def _is_clean(sample: bytes, codec: str) -> bool:
    if not _fits(sample, codec, False):
        return False
    return not any(character in _CONTROL_CHARACTERS for character in sample.decode(codec, "ignore")[:1000])


def _mostly_utf8(sample: bytes) -> bool:
    """Whether it is UTF-8 with a few bad bytes, rather than something else."""
    text = sample.decode("utf-8", "surrogateescape")
    bad = len(_ESCAPED.findall(text))
    return len(_NOT_ASCII.findall(text)) - bad > 4 * bad


def _single(sample: bytes, fallback: str, complete: bool) -> Coding:
    """The encoding the text declares, or the fallback; Latin-1 fits everything."""
    declared = _DECLARED.search(sample[:1024])
    for name in (declared and declared[1].decode("ascii"), fallback):
        try:
            codec = charset(name) if name else ""
        except ValueError:
            continue
        if codec and _fits(sample, codec, complete):
            return Coding(codec)
    return Coding("latin-1")
