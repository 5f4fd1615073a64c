"""What a body is, by its first bytes and by what the web server says: a page, text, a picture, or something else."""

import re
from typing import Literal

Kind = Literal["html", "text", "image", "pdf", "binary"]
_IMAGES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)
_HTML = re.compile(
    # Atomic: comments in a row can be taken apart in more ways than anyone can try.
    rb"\s*(?>(?:<!--.*?-->\s*|<\?xml[^>]*>\s*)*)<(?:!doctype html|html|head|body|title|meta|script)\b",
    re.IGNORECASE | re.DOTALL,
)
_TEXT_TYPES = re.compile(
    r"text/.*|application/(?:.*[+.])?(?:json|xml|yaml|x-yaml|javascript|ecmascript|toml|sql|graphql|x-sh|rtf|x-ndjson|jsonl)|.*\+(?:json|xml|text)|image/svg.*|message/.*"
)
_HTML_TYPES = ("text/html", "application/xhtml+xml")
_UNPRINTABLE = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b")
_STRAY = 0.03
"""Share of unprintable bytes in what calls itself a page or a text, and is one all the same."""
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def sniff(body: bytes, media_type: str, charset: str | None = None) -> tuple[Kind, str]:
    """The kind of a body, and its true type as far as it can be told."""
    if charset is not None and charset.lower().startswith("utf-16"):
        body = body.replace(b"\x00", b"")  # letters take two bytes each, and most begin or end with this one
    image = image_type(body)
    if image is not None:
        return "image", image
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf", "application/pdf"
    if media_type in _HTML_TYPES:
        return ("binary" if _is_binary(body, _STRAY) else "html"), media_type
    if _is_binary(body, _STRAY if media_type.startswith("text/") else 0):
        return "binary", media_type or "application/octet-stream"
    if media_type in ("", "text/plain", "application/octet-stream") and _HTML.match(body[:2000]):
        # Plain text is shown as such even if it is the source of a page; without a type, a page is a page.
        return ("text", media_type) if media_type == "text/plain" else ("html", "text/html")
    if not media_type or media_type == "application/octet-stream" or _TEXT_TYPES.fullmatch(media_type):
        return "text", media_type or "text/plain"
    return "binary", media_type


def image_type(body: bytes) -> str | None:
    """The type of a picture that models can look at."""
    for mark, name in _IMAGES:
        if body.startswith(mark):
            return name
    return "image/webp" if body[:4] == b"RIFF" and body[8:12] == b"WEBP" else None


def _is_binary(body: bytes, stray: float) -> bool:
    """Whether null bytes say so, and they have not merely strayed in; UTF-16 tells by its mark."""
    if body.startswith(_BOMS):
        return False
    head = body[:4096]
    unprintable = len(head) - len(head.translate(None, _UNPRINTABLE))
    return 0 in head and unprintable > stray * len(head)
