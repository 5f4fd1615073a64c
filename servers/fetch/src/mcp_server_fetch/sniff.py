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
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


def sniff(body: bytes, media_type: str) -> tuple[Kind, str]:
    """The kind of a body, and its true type as far as it can be told."""
    image = image_type(body)
    if image is not None:
        return "image", image
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf", "application/pdf"
    if media_type in _HTML_TYPES:
        return ("binary" if _is_binary(body) else "html"), media_type
    if _is_binary(body):
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


def _is_binary(body: bytes) -> bool:
    """Whether the beginning has bytes that no text has; UTF-16 tells by its mark."""
    if body.startswith(_BOMS):
        return False
    return b"\x00" in body[:4096]
