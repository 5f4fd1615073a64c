"""Text as search compares it: without case, accents and differences of Unicode form. Knows nothing of the graph."""

import re
from unicodedata import normalize

# Combining accents of Latin, Greek and Cyrillic. Marks of other scripts are letters to their readers.
_ACCENTS = re.compile("[\u0300-\u036f]")
# Scripts that put no spaces between words, and pictures: each character is a word of its own.
_ALONE = re.compile(
    "([\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2600-\u27bf\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001f000-\U0001faff\U00020000-\U0003ffff])"
)


def fold(text: str) -> str:
    """The form in which two texts are the same for a searcher. A NUL, which ends text in SQL, becomes a space."""
    if text.isascii():
        return text.lower().replace("\0", " ")
    bare = _ACCENTS.sub("", normalize("NFKD", text).casefold())
    return normalize("NFKC", bare).casefold().replace("\0", " ")


def separate(folded: str) -> str:
    """Folded text with spaces around characters that are words of their own."""
    return folded if folded.isascii() else _ALONE.sub(r" \1 ", folded)
